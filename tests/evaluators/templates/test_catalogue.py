"""The catalogue: which templates there are, what each needs, and what is said of names that are none."""

from __future__ import annotations

import inspect
import re

import pytest

from paceline.errors import UsageError
from paceline.evaluators.templates.asking import question_of
from paceline.evaluators.templates.catalogue import catalogue, entry_of, template_of
from paceline.evaluators.templates.entries import Computed, Embedded, Judged, Unsupported
from paceline.evaluators.templates.given import given_to
from paceline.evaluators.templates.listing import templates

NEEDS = """
bias_detection clinically_inappropriate_tone contains_code content_moderation
content_safety_violation cultural_sensitivity data_privacy_compliance is_compliant is_concise
is_harmful_advice is_informal_tone is_polite no_age_bias no_apologies no_gender_bias
no_harmful_therapeutic_guidance no_llm_reference no_racial_bias sexist tone toxicity: output
groundedness detect_hallucination factual_accuracy is_factually_consistent: output context input?
context_adherence chunk_attribution chunk_utilization: output context
context_relevance eval_ranking: input context
answer_refusal completeness evaluate_function_calling is_good_summary is_helpful summary_quality
task_completion text_to_sql translation_accuracy: input output
prompt_adherence: output input?
prompt_instruction_adherence: output prompt
pii prompt_injection protect_flash: input
ground_truth_match: generated_value expected_value
conversation_coherence conversation_resolution
customer_agent_clarification_seeking customer_agent_context_retention
customer_agent_conversation_quality customer_agent_human_escalation
customer_agent_interruption_handling customer_agent_language_handling
customer_agent_loop_detection customer_agent_objection_handling
customer_agent_query_handling customer_agent_termination_handling: conversation
conversation_hallucination: conversation context?
customer_agent_prompt_conformance: conversation system_prompt
customer_agent_task_completion: conversation agent_prompt
contains contains_all contains_any contains_none starts_with ends_with one_line regex
regex_pii_detection is_email is_html is_json is_sql is_url is_xml is_refusal length_between
length_greater_than length_less_than sentence_count word_count_in_range latency_check
syntax_validation code_complexity distinct_n readability_score repetition_rate type_token_ratio
contains_valid_link no_invalid_links: text
accuracy balanced_accuracy cohen_kappa f1_score f_beta_score fuzzy_match
hamming_similarity jaccard_similarity jaro_winkler_similarity
levenshtein_similarity numeric_similarity json_diff log_loss
matthews_correlation non_llm_context_precision non_llm_context_recall
pearson_correlation spearman_correlation precision_score r2_score rmse
squad_score tool_call_accuracy trajectory_match embedding_similarity semantic_list_contains: output expected
bleu_score character_error_rate chrf_score code_bleu gleu_score match_error_rate
mean_average_precision meteor_score rouge_score translation_edit_rate word_error_rate word_info_lost
word_info_preserved hit_rate mrr ndcg_at_k precision_at_k recall_at_k recall_score: reference hypothesis
equals: text expected_text
answer_similarity: expected_response response
json_scheme_validation: actual_json expected_json
step_count fleiss_kappa: output
"""
"""What users of these templates give them elsewhere."""

YES_OR_NO = """
bias_detection clinically_inappropriate_tone contains_code content_moderation content_safety_violation
cultural_sensitivity data_privacy_compliance is_compliant is_concise is_harmful_advice is_informal_tone
is_polite no_age_bias no_apologies no_gender_bias no_harmful_therapeutic_guidance no_llm_reference
no_racial_bias sexist toxicity groundedness detect_hallucination is_factually_consistent
chunk_attribution answer_refusal evaluate_function_calling is_good_summary is_helpful task_completion
text_to_sql pii prompt_injection protect_flash ground_truth_match customer_agent_human_escalation
conversation_hallucination customer_agent_task_completion contains contains_all contains_any
contains_none starts_with ends_with one_line regex regex_pii_detection is_email is_html is_json is_sql
is_url is_xml is_refusal length_between length_greater_than length_less_than sentence_count
word_count_in_range latency_check syntax_validation equals json_scheme_validation step_count
contains_valid_link no_invalid_links
""".split()  # noqa: SIM905  # names are read more easily than a list of them
LABELS = """
tone deterministic_evals customer_agent_clarification_seeking customer_agent_conversation_quality
customer_agent_loop_detection customer_agent_objection_handling customer_agent_query_handling
customer_agent_termination_handling
""".split()  # noqa: SIM905  # names are read more easily than a list of them


def needs() -> dict[str, list[str]]:
    lines = re.findall(r"([^:]+): ([^\n]+)\n", NEEDS)
    return {name: inputs.split() for names, inputs in lines for name in names.split()}


def test_every_template_takes_what_it_takes_elsewhere() -> None:
    listed = {
        name: sorted(f"{each.name}{'' if each.is_required else '?'}" for each in entry.inputs)
        for name, entry in catalogue().items()
        if not isinstance(entry, Unsupported) and name != "deterministic_evals"
    }
    assert listed == {name: sorted(inputs) for name, inputs in needs().items()}


def test_what_comes_out_is_what_comes_out_elsewhere() -> None:
    def gives(output: str) -> set[str]:
        return {each.name for each in templates() if each.output == output}

    assert gives("Pass/Fail") == set(YES_OR_NO)
    assert gives("Choices") == set(LABELS)
    judged = {name for name, entry in catalogue().items() if isinstance(entry, Judged)}
    assert judged - gives("Pass/Fail") - gives("Choices") == judged & gives("Score")


def test_there_are_as_many_as_elsewhere_and_each_is_listed_once() -> None:
    names = [each.name for each in templates()]
    assert len(names) == len(set(names)) == 156
    assert names == sorted(names, key=str.casefold)


def test_those_about_media_are_listed_and_said_to_be_unsupported() -> None:
    media = "ASR/STT_accuracy TTS_accuracy audio_quality caption_hallucination image_instruction_adherence"
    media += " synthetic_image_evaluator ocr_evaluation clip_score fid_score image_properties psnr ssim"
    for name in (*media.split(), "dead_air_detection"):
        assert not next(each for each in templates() if each.name == name).is_supported
        with pytest.raises(UsageError, match=f"{name} is not supported: it judges") as refused:
            template_of(name)
        assert refused.value.hint


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        *(("groundednes", "groundedness"), ("Groundedness", "groundedness"), ("bleu", "bleu_score")),
        *(
            ("rouge-score", "rouge_score"),
            ("hallucination", "detect_hallucination"),
            ("wordErrorRate", "word_error_rate"),
        ),
        ("toxic", "toxicity"),
    ],
)
def test_a_name_that_is_none_is_told_with_the_one_that_was_meant(written: str, meant: str) -> None:
    with pytest.raises(UsageError, match=f"did you mean {meant}\\?"):
        entry_of(written)


@pytest.mark.parametrize("written", ["", "qqqqqq", 5, None, ["groundedness", "toxicity"]])
def test_what_is_like_no_name_is_refused_and_the_list_is_named(written: object) -> None:
    with pytest.raises(UsageError) as refused:
        entry_of(written)
    assert "templates()" in refused.value.hint


@pytest.mark.parametrize(
    "entry", [e for e in catalogue().values() if isinstance(e, Judged)], ids=lambda e: e.name
)
def test_every_judge_is_told_what_passes_and_shown_what_it_judges(entry: Judged) -> None:
    given = {each.name: f"the {each.name}" for each in entry.inputs}
    if entry.takes_more:
        given |= {"rule_prompt": "Which?", "choices": ["a", "b"], "output": "the output"}  # type: ignore[dict-item]
    question = question_of(entry, given_to(entry, given))
    assert question.messages()
    assert set(question.shown) == {*(each.name for each in entry.inputs)} or entry.takes_more
    assert len(question.rubric.split()) > 20 or entry.takes_more
    assert entry.about.endswith(".")
    assert "input" not in question.shown or "input" in question.rubric.casefold()
    assert (entry.output == "Choices") is bool(entry.choices or entry.takes_more)
    assert all(0 <= rank <= 1 for rank in entry.ranks)


@pytest.mark.parametrize(
    "entry", [e for e in catalogue().values() if isinstance(e, Computed | Embedded)], ids=lambda e: e.name
)
def test_every_computed_template_says_what_it_is_about_in_sentences(entry: Computed | Embedded) -> None:
    assert entry.about
    assert entry.about[0].isupper() or entry.about[0].isdigit() or entry.about.startswith("chrF")
    assert entry.about.endswith(".")
    assert entry.name == entry.compute.__name__
    assert inspect.getdoc(entry.compute)


def test_the_list_tells_required_optional_and_kinds() -> None:
    info = next(each for each in templates() if each.name == "contains")
    assert (info.judged_by, info.output) == ("code", "Pass/Fail")
    assert (info.required, info.optional) == (("text", "keyword"), ("case_sensitive",))
    assert info.kinds == {"text": "text", "keyword": "text", "case_sensitive": "true or false"}
    assert info.to_dict()["name"] == "contains"
