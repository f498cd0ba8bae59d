"""--eval-metrics, against scikit-learn, and --metric-for-best-model."""

import json

import numpy as np
import pytest
import torch
from sklearn import metrics as sklearn_metrics

import gpuopt
from gpuopt.driver import find_driver
from training import OPTIMIZATION_FOR_ONE_STEP, CommandFailed, Trainer, execute

BATCH, TRAIN, EVAL, CLASSES, TIME = 8, 16, 29, 11, 3  # the last batch of a validation is not full
RUN = dict(learning_rate=1e-2, max_steps=6, eval_steps=2)


class Words(torch.nn.Module):
    """Logits of classes for each of TIME places, and some of yes and no."""

    def __init__(self):
        super().__init__()
        self.hidden, self.classes = torch.nn.Linear(5, 16), torch.nn.Linear(16, CLASSES * TIME)
        self.answers = torch.nn.Linear(16, 4)

    def forward(self, x):
        hidden = torch.tanh(self.hidden(x))
        return self.classes(hidden).reshape(-1, TIME, CLASSES), self.answers(hidden)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.onnx"
    torch.manual_seed(1)
    gpuopt.export(Words().train(), torch.zeros(2, 5), path, input_names=["x"], output_names=["words", "answers"])
    return path


def arrays(labels_of):
    draw = np.random.default_rng(4)
    x = draw.normal(size=(TRAIN + EVAL, 5)).astype(np.float32)
    return x, labels_of(draw)


def words(draw):
    labels = draw.integers(0, CLASSES - 2, (TRAIN + EVAL, TIME))  # two classes do not occur
    labels[TRAIN + EVAL - 1, 1:] = -100
    labels[20, 0] = -100
    return labels


def answers(draw):
    return draw.integers(0, 2, (TRAIN + EVAL, 4)).astype(np.float32)


def train(model, folder, labels_of, build, **flags):
    """The trainer, the evaluations of a run, and what PyTorch computes with the
    weights that it ends with, of the validation's samples."""
    x, labels = arrays(labels_of)
    trainer = Trainer(model, folder / "program", OPTIMIZATION_FOR_ONE_STEP, batch_size=BATCH, **build)
    for name, array in dict(x=x, labels=labels).items():
        np.save(folder / f"{name}.npy", array[:TRAIN])
        np.save(folder / f"eval-{name}.npy", array[TRAIN:])
    result = run(trainer, folder, **flags)
    module = Words()
    module.load_state_dict({name: torch.from_numpy(np.array(value)) for name, value in result.weights.items()})
    with torch.no_grad():
        outputs = module(torch.from_numpy(x[TRAIN:]))
    return trainer, result, outputs, labels[TRAIN:]


def run(trainer, folder, **flags):
    trainer.runs += 1
    return trainer.run_files(folder / f"run{trainer.runs}", data={"x": folder / "x.npy"}, labels=folder / "labels.npy",
                             eval_data={"x": folder / "eval-x.npy"}, eval_labels=folder / "eval-labels.npy", **{**RUN, **flags})


@pytest.fixture(scope="module")
def classes(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("classes")
    return folder, *train(model, folder, words, dict(eval_metrics="accuracy,top_3_accuracy,f1,perplexity"))


def test_classes(classes):
    _, _, result, outputs, labels = classes
    logits, labels = outputs[0].numpy().reshape(-1, CLASSES), labels.reshape(-1)
    logits, labels = logits[labels != -100], labels[labels != -100]
    predictions, last = logits.argmax(1), result.evaluations[-1]
    assert last["eval_accuracy"] == sklearn_metrics.accuracy_score(labels, predictions)
    assert last["eval_top_3_accuracy"] == sklearn_metrics.top_k_accuracy_score(labels, logits, k=3, labels=range(CLASSES))
    assert last["eval_f1"] == pytest.approx(sklearn_metrics.f1_score(labels, predictions, average="macro"), rel=1e-12)
    assert last["eval_perplexity"] == pytest.approx(np.exp(last["eval_loss"]), rel=1e-12)
    assert f"  accuracy {last['eval_accuracy']:.4f}  top_3_accuracy " in result.output


def test_where_metrics_are_seen(classes):
    """TensorBoard, the page, the terminal and the comparison of runs have each metric."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    folder, trainer, _, _, _ = classes
    result = run(trainer, folder, report_to="tensorboard")
    out = folder / f"run{trainer.runs}"
    events = EventAccumulator(str(out / "tensorboard"))
    events.Reload()
    execute([find_driver(), "report", out, "-o", folder / "page.html", "--time-limit=0"])
    page = (folder / "page.html").read_text()
    headline = execute([find_driver(), "watch", "--once", out]).splitlines()[0]
    same = execute([find_driver(), "diff", out, out])
    for name in ("accuracy", "top_3_accuracy", "f1", "perplexity"):
        values = [evaluation[f"eval_{name}"] for evaluation in result.evaluations]
        assert [point.value for point in events.Scalars(f"eval/{name}")] == pytest.approx(values, rel=1e-6)
        assert f'"{name}":{{"x":[2,4,6],"mean":[{values[0]:.6g},' in page
        assert f", {name} {values[-1]:.4f}" in headline
        assert f"eval_{name}: the same in all 3 steps of both" in same


def test_answers(model, tmp_path):
    _, result, outputs, labels = train(model, tmp_path, answers, dict(loss="bce_with_logits", logits="answers", eval_metrics="f1,accuracy"))
    predictions, last = outputs[1].numpy() > 0, result.evaluations[-1]
    assert last["eval_accuracy"] == (predictions == (labels > 0)).mean()
    assert last["eval_f1"] == pytest.approx(sklearn_metrics.f1_score(labels, predictions, average="macro"), rel=1e-12)


def test_probabilities(model, tmp_path):
    """A label is the class to which it gives the greatest probability."""
    labels_of = lambda draw: draw.dirichlet(np.ones(CLASSES), (TRAIN + EVAL, TIME)).astype(np.float32)
    build = dict(loss="soft_cross_entropy", eval_metrics="accuracy,top_3_accuracy,f1")
    *_, result, outputs, labels = train(model, tmp_path, labels_of, build)
    logits, labels = outputs[0].numpy().reshape(-1, CLASSES), labels.reshape(-1, CLASSES).argmax(1)
    last = result.evaluations[-1]
    assert last["eval_accuracy"] == sklearn_metrics.accuracy_score(labels, logits.argmax(1))
    assert last["eval_top_3_accuracy"] == sklearn_metrics.top_k_accuracy_score(labels, logits, k=3, labels=range(CLASSES))
    assert last["eval_f1"] == pytest.approx(sklearn_metrics.f1_score(labels, logits.argmax(1), average="macro"), rel=1e-12)


def test_logits_in_chunks(model, tmp_path):
    """The logits never exist whole, and the metrics are the same."""
    *_, result, outputs, labels = train(model, tmp_path, words, dict(eval_metrics="accuracy,top_3_accuracy", loss_chunks=3))
    logits, labels = outputs[0].numpy().reshape(-1, CLASSES), labels.reshape(-1)
    logits, labels = logits[labels != -100], labels[labels != -100]
    last = result.evaluations[-1]
    assert last["eval_accuracy"] == sklearn_metrics.accuracy_score(labels, logits.argmax(1))
    assert last["eval_top_3_accuracy"] == sklearn_metrics.top_k_accuracy_score(labels, logits, k=3, labels=range(CLASSES))


def test_the_best_by_a_metric(classes):
    """Where loss and accuracy disagree on the best validation, the checkpoint is
    that of the metric."""
    folder, trainer, *_ = classes
    flags = dict(learning_rate=0.3, max_steps=24, eval_steps=1, save_best=True, save_total_limit=1)
    result = run(trainer, folder, **flags, metric_for_best_model="accuracy")
    accuracies = [record["eval_accuracy"] for record in result.evaluations]
    best = int(np.argmax(accuracies)) + 1
    assert best != int(np.argmin([record["eval_loss"] for record in result.evaluations])) + 1
    out = folder / f"run{trainer.runs}"
    state = json.loads((out / f"checkpoint-{best}" / "trainer_state.json").read_text())
    assert (state["best_global_step"], state["best_metric"]) == (best, max(accuracies))
    # From there on, only what is better than it is the best.
    again = run(trainer, folder, **flags, metric_for_best_model="accuracy", resume=out / f"checkpoint-{best}")
    assert [record["eval_accuracy"] for record in again.evaluations] == accuracies[best:]
    assert [path.name for path in (folder / f"run{trainer.runs}").glob("checkpoint-*")] == ["checkpoint-24"]  # of its end
    stopped = run(trainer, folder, **{**flags, "save_best": None}, metric_for_best_model="accuracy", early_stopping_patience=3)
    scores = np.array(accuracies)
    expected = next(i for i in range(3, 24) if scores[i - 2:i + 1].max() <= scores[:i - 2].max()) + 1
    assert stopped.evaluations[-1]["step"] == expected
    assert f"were not better than accuracy {scores[:expected].max():.4f}" in stopped.output


def test_what_is_refused(model, classes):
    folder, trainer, *_ = classes

    def refusal(*flags):
        with pytest.raises(CommandFailed) as error:
            execute([find_driver(), "compile", model, "-o", folder / "refused", "--batch-size=8", *flags])
        return error.value.output

    assert "--eval-metrics: 'auc' is no metric; there are accuracy, top_K_accuracy for a number K, f1 and perplexity" in refusal("--eval-metrics=auc")
    assert "--eval-metrics: 'f1' applies only to --loss=cross_entropy or nll or soft_cross_entropy or bce_with_logits or focal, but the loss is mse" in refusal(
        "--eval-metrics=f1", "--loss=mse")
    assert "--eval-metrics names 'f1' twice" in refusal("--eval-metrics=f1,f1")
    with pytest.raises(CommandFailed) as error:
        run(trainer, folder, metric_for_best_model="mae", save_best=True)
    assert ("'--metric-for-best-model' must be loss or accuracy or top_3_accuracy or f1 or perplexity, which validations measure "
            "(--eval-metrics), but is 'mae'") in error.value.output
    with pytest.raises(CommandFailed) as error:
        run(trainer, folder, metric_for_best_model="f1")
    assert "'--metric-for-best-model' has no effect without --save-best or --early-stopping-patience" in error.value.output
