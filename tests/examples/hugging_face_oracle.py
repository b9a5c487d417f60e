# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""hugging_face_oracle.py FOLDER COMMAND...

transformers makes tiny checkpoints of all configurations of references.py in FOLDER and computes with them; COMMAND,
tests/examples/hugging_face.cpp, compares, and saves what it loaded in FOLDER/saved; from_pretrained reads that, and
every number is the one that was saved first.
"""

import os
import shutil
import subprocess
import sys

try:
    import torch
    import transformers
    import safetensors.torch
except ImportError as missing:
    print(f"SKIPPED: this python3 has no {missing.name}, so transformers computed nothing to compare with; "
          "name one that has torch, transformers and safetensors with -DOSTRAKA_TRANSFORMERS_PYTHON=")
    sys.exit(77)

HERE = os.path.dirname(os.path.abspath(__file__))


def require(holds, what):
    if not holds:
        sys.exit(f"FAILED: {what}")


def main():
    folder, command = sys.argv[1], sys.argv[2:]
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder + "/saved")
    subprocess.run([sys.executable, HERE + "/hugging_face/references.py", folder + "/references"], check=True)
    environment = {**os.environ, "HUGGING_FACE_REFERENCES": folder + "/references",
                   "HUGGING_FACE_SAVED": folder + "/saved"}
    require(subprocess.run(command, env=environment).returncode == 0, "the program differs from transformers")
    saved = sorted(os.listdir(folder + "/saved"))
    require(len(saved) >= 26, f"all families are saved under both rule sets, not only {saved}")
    for name in saved:
        family = name.split(".")[0]
        config = transformers.AutoConfig.from_pretrained(f"{folder}/saved/{name}")
        kind = transformers.EsmForMaskedLM if config.model_type == "esm" else transformers.AutoModelForCausalLM
        # the config's
        model, report = kind.from_pretrained(f"{folder}/saved/{name}", output_loading_info=True, dtype="auto")
        # ESM-2's rotations, which follow from the config
        missing = [key for key in report["missing_keys"] if not key.endswith("inv_freq")]
        require(not (missing or report["unexpected_keys"] or report["mismatched_keys"]), f"{name}: {report}")
        first = kind.from_pretrained(f"{folder}/references/{family}", dtype=torch.float64).state_dict()
        for key, value in model.state_dict().items():
            require(torch.equal(value, first[key]), f"{name}: {key}")
    print(f"{len(saved)} saved checkpoints are read by from_pretrained: PASS")


if __name__ == "__main__":
    main()
