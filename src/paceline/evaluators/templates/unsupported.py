"""Templates that are known by name and not supported: each says why, and what to do instead."""

from __future__ import annotations

from typing import Final

from paceline.evaluators.templates.entries import Unsupported, named


def _media(name: str, inputs: str, what: str) -> Unsupported:
    return Unsupported(
        name=name,
        inputs=named(*inputs.split()),
        why=f"it judges {what}, and templates here judge text",
        instead="write an evaluator function that calls a model or a library for it",
    )


TEMPLATES: Final = (
    _media("ASR/STT_accuracy", "audio generated_transcript", "speech"),
    _media("TTS_accuracy", "text generated_audio", "speech"),
    _media("audio_quality", "input_audio", "sound"),
    _media("caption_hallucination", "image caption", "images"),
    _media("image_instruction_adherence", "instruction images", "images"),
    _media("synthetic_image_evaluator", "image", "images"),
    _media("ocr_evaluation", "input_pdf json_content", "documents as images"),
    _media("clip_score", "images text", "images"),
    _media("fid_score", "images", "images"),
    _media("image_properties", "text", "images"),
    _media("psnr", "output expected", "images"),
    _media("ssim", "output expected", "images"),
    _media("dead_air_detection", "input_audio", "sound"),
    Unsupported(
        name="api_call",
        inputs=named("response"),
        why="it calls an endpoint of yours, in a form that its name does not tell",
        instead="HttpTask asks an endpoint; an evaluator function of your own may call one",
    ),
    Unsupported(
        name="custom_code_evaluation",
        inputs=(),
        why="it runs code that stands in a text",
        instead="a function of your own is an evaluator; PythonTests runs code of others in a cell",
    ),
)
