# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""references.py FOLDER [FAMILY...]: tiny checkpoints as transformers saves them, and what transformers computes with
them in doubles.

    FOLDER/llama/config.json, model.safetensors    as save_pretrained writes them
    FOLDER/llama/expected.safetensors              tokens, labels, logits, loss, the losses of three steps of AdamW, a
                                                   continuation
    FOLDER/esm2/encoded.safetensors                tokens without masks, and the encoder's result
    FOLDER/llama/gradients.safetensors             of the loss, by the tensors' names in model.safetensors
    FOLDER/llama/bfloat16.safetensors              logits with parameters rounded to bfloat16, in doubles, and those of
                                                   transformers in bfloat16

Those without a family after FOLDER are all of them. transformers computes norms, rotations and softmax in float32 in
any model. Here the names torch.float32, torch.float and Tensor.float stand for doubles while it computes, so that
everything is in doubles; nothing else of it is changed. Labels are those of each position: that of a causal model is
the next token, and transformers, which shifts its labels itself, gets them shifted back. Made with the versions that
VERSIONS says.
"""

import os
import sys

import torch
import transformers as hf
from safetensors.torch import save_file

SMALL = {"vocab_size": 20, "hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 2, "num_attention_heads": 4,
         "max_position_embeddings": 32}
GROUPED = {**SMALL, "num_key_value_heads": 2, "head_dim": 4, "bos_token_id": None, "eos_token_id": None,
           "pad_token_id": None}
LLAMA3 = {"rope_type": "llama3", "rope_theta": 100.0, "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 8}
YARN = {"rope_type": "yarn", "rope_theta": 100.0, "factor": 4.0, "original_max_position_embeddings": 8}
GEMMA3 = {"full_attention": {"rope_type": "linear", "rope_theta": 100.0, "factor": 8.0},
          "sliding_attention": {"rope_type": "default", "rope_theta": 50.0}}
ESM2 = {**SMALL, "position_embedding_type": "rotary", "token_dropout": True, "mask_token_id": 19, "pad_token_id": 1,
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0, "layer_norm_eps": 1e-5, "emb_layer_norm_before": False}

FAMILIES = {
    "llama": lambda: hf.LlamaConfig(**GROUPED, rope_parameters=LLAMA3, tie_word_embeddings=False),
    "llama_biases": lambda: hf.LlamaConfig(**GROUPED, rope_parameters=YARN, attention_bias=True, mlp_bias=True,
                                           tie_word_embeddings=True),
    "mistral": lambda: hf.MistralConfig(**GROUPED, tie_word_embeddings=False, sliding_window=None),
    "mistral_windows": lambda: hf.MistralConfig(**GROUPED, tie_word_embeddings=False, sliding_window=3),
    "qwen2": lambda: hf.Qwen2Config(**{**GROUPED, "head_dim": 2}, tie_word_embeddings=True),
    "qwen2_windows": lambda: hf.Qwen2Config(**{**GROUPED, "head_dim": 2}, tie_word_embeddings=True,
                                            use_sliding_window=True, sliding_window=2,
                                            max_window_layers=1),
    "qwen3": lambda: hf.Qwen3Config(**GROUPED, tie_word_embeddings=False),
    "gemma": lambda: hf.GemmaConfig(**{**GROUPED, "num_key_value_heads": 1}),
    "gemma2": lambda: hf.Gemma2Config(**GROUPED, sliding_window=3, query_pre_attn_scalar=3, attn_logit_softcapping=0.7,
                                      final_logit_softcapping=1.5),
    "gemma3": lambda: hf.Gemma3TextConfig(**GROUPED, sliding_window=3, query_pre_attn_scalar=5,
                                          layer_types=["sliding_attention", "full_attention"],
                                          rope_parameters=GEMMA3),
    "gpt2": lambda: hf.GPT2Config(vocab_size=20, n_embd=8, n_layer=2, n_head=4, n_positions=32, resid_pdrop=0.0,
                                  embd_pdrop=0.0, attn_pdrop=0.0,
                                  bos_token_id=None, eos_token_id=None),
    "esm2": lambda: hf.EsmConfig(**ESM2),
    "esm2_padded": lambda: hf.EsmConfig(**ESM2),
}


def kind_of(config):
    return getattr(hf, hf.models.auto.modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES["esm"]
                   if config.model_type == "esm" else
                   hf.models.auto.modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES[config.model_type])


def model_of(config):
    config._attn_implementation = "eager"
    return kind_of(config)(config).eval()


def batch_of(config, is_padded):
    """Tokens, labels, and the tokens without masks."""
    generator = torch.Generator().manual_seed(7)
    tokens = torch.randint(2, 18, (2, 7), generator=generator)
    unmasked = tokens.clone()
    if config.model_type == "esm":
        labels = torch.full_like(tokens, -100)
        for row, at in ((0, 1), (0, 4), (1, 6)):
            labels[row, at] = tokens[row, at]
            tokens[row, at] = config.mask_token_id
        if is_padded:
            tokens[0, 5:] = config.pad_token_id
    else:
        labels = torch.cat([tokens[:, 1:], torch.full_like(tokens[:, :1], -100)], dim=1)
        labels[1, 2] = -100
    return tokens, labels, unmasked


def save_checkpoint(folder, config):
    model = model_of(config)
    with torch.no_grad():
        for name, p in model.named_parameters():
            p.normal_(0, 0.3)
            if "norm" in name.lower() and name.endswith("weight") or ".ln_" in name and name.endswith("weight"):
                p.add_(0 if config.model_type.startswith("gemma") else 1)
    model.to(torch.bfloat16 if config.model_type == "llama" and not config.mlp_bias
             else torch.float32).save_pretrained(folder)


def in_doubles():
    torch.set_default_dtype(torch.float64)
    torch.Tensor.float = torch.Tensor.double
    torch.float32 = torch.float = torch.float64


def loss_of(model, tokens, labels):
    given = labels
    if model.config.model_type != "esm":
        given = torch.cat([torch.full_like(labels[:, :1], -100), labels[:, :-1]], dim=1)
    return model(input_ids=tokens, labels=given, attention_mask=real(model.config, tokens))


def real(config, tokens):
    return (tokens != config.pad_token_id).long() if config.model_type == "esm" else None


def narrow(folder, config, stored):
    """transformers with parameters and activations of bfloat16: the parameters, and its logits."""
    model = kind_of(config).from_pretrained(folder, dtype=torch.bfloat16, attn_implementation="eager").eval()
    tokens, _, _ = batch_of(config, folder.endswith("padded"))
    with torch.no_grad():
        logits = model(input_ids=tokens, attention_mask=real(config, tokens)).logits
    assert logits.dtype == torch.bfloat16
    frequencies = {name: w for name, w in stored.items() if name.endswith("inv_freq")}  # which follow from the config
    return {name: w.double() for name, w in model.state_dict().items()} | frequencies, logits.double()


def compute(folder, config, stored, rounded, logits_in_bfloat16):
    model = model_of(config)
    assert all(p.dtype == torch.float64 for p in model.parameters())
    model.load_state_dict(stored)
    tokens, labels, unmasked = batch_of(config, folder.endswith("padded"))
    if config.model_type == "esm":  # for examples/esm2
        with torch.no_grad():
            encoded = {"tokens": unmasked.int(), "encoded": model.esm(input_ids=unmasked).last_hidden_state}
        save_file(encoded, folder + "/encoded.safetensors")
    with torch.no_grad():
        logits = model(input_ids=tokens, attention_mask=real(config, tokens)).logits
        continued = tokens[:1, :3]
        for _ in range(0 if config.model_type == "esm" else 9):
            continued = torch.cat([continued, model(input_ids=continued).logits[:, -1:].argmax(-1)], dim=1)
    loss = loss_of(model, tokens, labels).loss
    loss.backward()
    gradients = {name: p.grad if p.grad is not None else torch.zeros_like(p) for name, p in model.named_parameters()}
    save_file({name: gradients[name].contiguous() for name in gradients}, folder + "/gradients.safetensors")

    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        step = loss_of(model, tokens, labels).loss
        step.backward()
        optimizer.step()
        losses.append(step.detach())
    save_file({"tokens": tokens.int(), "labels": labels.int(), "logits": logits, "loss": loss.detach(),
               "losses": torch.stack(losses),
               "continued": continued[0, 3:].int()}, folder + "/expected.safetensors")

    model.load_state_dict(rounded)
    with torch.no_grad():
        logits = model(input_ids=tokens, attention_mask=real(config, tokens)).logits
    save_file({"tokens": tokens.int(), "logits": logits, "in_bfloat16": logits_in_bfloat16},
              folder + "/bfloat16.safetensors")


def main():
    out, names = sys.argv[1], sys.argv[2:] or list(FAMILIES)
    torch.manual_seed(1)
    for name in names:
        if not os.path.exists(f"{out}/{name}/model.safetensors"):  # a checkpoint that is there stays
            save_checkpoint(f"{out}/{name}", FAMILIES[name]())
    stored = {name: kind_of(FAMILIES[name]()).from_pretrained(f"{out}/{name}").double().state_dict() for name in names}
    of_bfloat16 = {name: narrow(f"{out}/{name}", FAMILIES[name](), stored[name]) for name in names}
    in_doubles()
    for name in names:
        compute(f"{out}/{name}", FAMILIES[name](), stored[name], *of_bfloat16[name])
        for extra in ("generation_config.json",):
            if os.path.exists(f"{out}/{name}/{extra}"):
                os.remove(f"{out}/{name}/{extra}")
    with open(f"{out}/VERSIONS", "w") as file:
        file.write(f"torch {torch.__version__}\ntransformers {hf.__version__}\n")


if __name__ == "__main__":
    main()
