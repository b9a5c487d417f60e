# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""files_oracle.py FOLDER COMMAND...

NumPy, with ml_dtypes, and the safetensors package write files into FOLDER; COMMAND FOLDER loads each and saves it
again; both packages read what it saved, and every bit is compared.
"""

import json
import os
import shutil
import subprocess
import sys

try:
    import ml_dtypes
    import numpy as np
    import safetensors
    import safetensors.numpy
except ImportError as missing:
    print(f"SKIPPED: this python3 has no {missing.name}, so no file was exchanged; "
          "bash cmake/bootstrap.sh test installs them, or name a Python that has them with -DOSTRAKA_FILES_PYTHON=")
    sys.exit(77)

SHAPE = (5, 3)


def bits(array):
    return np.ascontiguousarray(array).view(np.uint8).tobytes() if array.ndim else array.tobytes()


def require(holds, what):
    if not holds:
        sys.exit(f"FAILED: {what}")


def random_bits(dtype, rng):
    """Every pattern, infinities and NaNs among them."""
    if dtype == np.bool_:
        return rng.integers(0, 2, SHAPE).astype(np.bool_)
    return np.frombuffer(rng.bytes(SHAPE[0] * SHAPE[1] * np.dtype(dtype).itemsize), dtype=dtype).reshape(SHAPE)


def main():
    folder, command = sys.argv[1], sys.argv[2:]
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    rng = np.random.default_rng(16)

    types = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "i64": np.int64,
             "i32": np.int32,
             "i16": np.int16, "i8": np.int8, "flags": np.bool_, "c64": np.complex64, "c128": np.complex128}
    arrays = {name: random_bits(dtype, rng) for name, dtype in types.items()}
    files = dict(arrays)
    files["f32_fortran"] = np.asfortranarray(arrays["f32"])
    files["f32_big_endian"] = arrays["f32"].astype(">f4")
    files["i16_big_endian_fortran"] = np.asfortranarray(arrays["i16"].astype(">i2"))
    files["c128_big_endian"] = arrays["c128"].astype(">c16")
    files["scalar"] = np.array(2.5, np.float32)
    files["long"] = np.arange(1000, dtype=np.int32)
    files["nothing"] = np.zeros((2, 0, 3), np.float32)
    for name, array in files.items():
        np.save(f"{folder}/{name}.npy", array)

    tensors = {name: arrays[name] for name in ["f64", "f32", "i32", "i16", "i8", "flags"]}
    tensors["i64.0"] = arrays["i64"]
    tensors["scalar"] = files["scalar"]
    tensors["nothing"] = np.zeros((4, 0), np.float32)
    for layer in range(3):
        for name in ["f16", "bf16", "c64"]:
            tensors[f"layers.{layer}.{name}"] = random_bits(types[name], rng)
    complex_is_known = True
    try:
        safetensors.numpy.save_file(tensors, f"{folder}/model.safetensors", metadata={"by": "another hand"})
    except safetensors.SafetensorError:  # before version 0.8
        complex_is_known = False
    require(complex_is_known, "this safetensors package does not know complex64; take version 0.8 or later")

    # The same in parts, as transformers lays them: names by turns, and an index.
    os.makedirs(f"{folder}/hub")
    os.makedirs(f"{folder}/parts")
    parts = [f"model-{part + 1:05}-of-00003.safetensors" for part in range(3)]
    weight_map = {name: parts[i % 3] for i, name in enumerate(tensors)}
    for part in parts:
        safetensors.numpy.save_file({name: tensors[name] for name in tensors if weight_map[name] == part},
                                    f"{folder}/hub/{part}",
                                    metadata={"format": "pt"})
    with open(f"{folder}/hub/model.safetensors.index.json", "w", encoding="utf-8") as index:
        json.dump({"metadata": {"total_size": sum(array.nbytes for array in tensors.values())},
                   "weight_map": weight_map}, index, indent=2)

    # Every pattern of 8 and 16 bits, which is to become a float; under the names of another program.
    patterns = {"e4m3": np.arange(256, dtype=np.uint8).view(ml_dtypes.float8_e4m3fn),
                "e5m2": np.arange(256, dtype=np.uint8).view(ml_dtypes.float8_e5m2),
                "f16": np.arange(65536, dtype=np.uint16).view(np.float16),
                "bf16": np.arange(65536, dtype=np.uint16).view(ml_dtypes.bfloat16)}
    safetensors.numpy.save_file({f"model.layers.3.{name}.weight": array for name, array in patterns.items()},
                                f"{folder}/narrow.safetensors")

    subprocess.run(command + [folder], check=True)

    for name, array in files.items():
        saved = np.load(f"{folder}/{name}.saved.npy")
        wanted = array.astype(array.dtype.newbyteorder("<"))
        if name == "bf16":  # NumPy itself reads two bytes
            require(saved.dtype == np.dtype("V2"), "bf16.npy is of another type")
            saved = saved.view(ml_dtypes.bfloat16)
        require(saved.shape == wanted.shape and saved.dtype == wanted.dtype, f"{name}.npy: {saved.dtype}{saved.shape}")
        require(bits(saved) == bits(wanted), f"{name}.npy: other bits")
        with open(f"{folder}/{name}.saved.npy", "rb") as ours, open(f"{folder}/{name}.npy", "rb") as theirs:
            require(not name.endswith(("f32", "i8", "scalar", "long")) or ours.read() == theirs.read(),
                    f"{name}.npy: another file")

    widened = safetensors.numpy.load_file(f"{folder}/narrow.saved.safetensors")
    require(widened.keys() == {f"model.layers.3.{name}.weight" for name in patterns}, f"other names: {sorted(widened)}")
    for name, array in patterns.items():
        saved, wanted = widened[f"model.layers.3.{name}.weight"], array.astype(np.float32)
        require(saved.dtype == np.float32 and np.array_equal(saved, wanted, equal_nan=True),
                f"narrow {name}: other values")
        require(np.array_equal(np.signbit(saved), np.signbit(wanted)), f"narrow {name}: other signs")

    # stacked over stages, and saved from there
    layers = {name: array for name, array in tensors.items() if name.startswith("layers.")}
    for file, expected in {"model": tensors, "hub": tensors, "layers": layers}.items():
        saved = safetensors.numpy.load_file(f"{folder}/{file}.saved.safetensors")
        require(saved.keys() == expected.keys(), f"other names: {sorted(saved)}")
        for name, array in expected.items():
            require(saved[name].shape == array.shape and saved[name].dtype == array.dtype,
                    f"{name}: {saved[name].dtype}{saved[name].shape}")
            require(bits(saved[name]) == bits(array), f"{name}: other bits")
    # In parts: what the index says is all there is, as transformers reads it.
    with open(f"{folder}/parts/model.safetensors.index.json", encoding="utf-8") as file:
        index = json.load(file)
    require(index["metadata"]["total_size"] == sum(array.nbytes for array in tensors.values()),
            f"total_size: {index['metadata']}")
    require(index["weight_map"].keys() == tensors.keys(), f"weight_map: {sorted(index['weight_map'])}")
    parts = sorted(set(index["weight_map"].values()))
    require(sorted(os.listdir(f"{folder}/parts")) == parts + ["model.safetensors.index.json"],
            f"files: {os.listdir(f'{folder}/parts')}")
    require(len(parts) > 2 and parts == [f"model-{k + 1:05}-of-{len(parts):05}.safetensors"
                                         for k in range(len(parts))], f"parts: {parts}")
    for part in parts:
        with safetensors.safe_open(f"{folder}/parts/{part}", framework="numpy") as file:
            require(file.metadata()["format"] == "pt", f"{part}: transformers refuses {file.metadata()}")
            names = list(file.keys())
            require(sorted(names) == sorted(name for name in tensors if index["weight_map"][name] == part),
                    f"{part}: {names}")
            require(len(names) == 1 or sum(tensors[name].nbytes for name in names) <= 200, f"{part} is too large")
            for name in names:
                require(bits(file.get_tensor(name)) == bits(tensors[name]), f"{name} in {part}: other bits")

    with safetensors.safe_open(f"{folder}/model.saved.safetensors", framework="numpy") as file:
        metadata = file.metadata()
    require(metadata["layers.0.bf16.axes"] == "I, J/X" and metadata["scalar.axes"] == "" and "X=" in metadata["mesh"],
            f"metadata: {metadata}")
    shutil.rmtree(folder)
    print(f"{len(files)} arrays and {len(tensors)} tensors of NumPy {np.__version__}, ml_dtypes "
          f"{ml_dtypes.__version__}, "
          f"safetensors {safetensors.__version__}")


main()
