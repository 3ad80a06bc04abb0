# %% [markdown]
# # A design loop
#
# Two simulators of the same quantity: one is cheap and wrong, the other accurate and expensive. The relation between
# them is not linear: the expensive one bends the square of the cheap one. We can afford 50 runs of the first, and want
# to run the second as seldom as possible.
#
# Run it as a script (`python design_loop.py [OUT.png]`), or cell by cell in an editor that knows `# %%`. A server is
# started for it; set FIDELIO_SERVER to use another one.

# %%
import os
import sys

import matplotlib

if __name__ == "__main__" and "ipykernel" not in sys.modules:
    matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import fidelio

INK, DATA, CHEAP, EXPENSIVE, ALONE = "#1f2933", "#c2410c", "#94a3b8", "#0f766e", "#7c3aed"


def cheap(x):
    return np.sin(8 * np.pi * x)


def expensive(x):
    return (x - np.sqrt(2)) * cheap(x) ** 2


grid = np.linspace(0, 1, 401)
client = fidelio.Client() if os.environ.get("FIDELIO_SERVER") else fidelio.local()


# %% [markdown]
# ## Learning
# `both` sees the cheap and the expensive runs, `alone` only the expensive ones.


# %%
def model_of(name, fidelities, costs):
    return client.create_model(name, inputs=1, fidelities=fidelities, costs=costs, box=([0], [1]), exist_ok=True)


both = model_of("example-both", ["cheap", "expensive"], [1, 20])
alone = model_of("example-alone", ["expensive"], [20])
x_cheap = both.initial_design({"cheap": 50}, seed=1).inputs("cheap")[:, 0]  # not evenly spaced, which can hide a wave
x_expensive = both.initial_design({"expensive": 7}, seed=1).inputs("expensive")[:, 0]
both.add(x_cheap, cheap(x_cheap), fidelity="cheap")
for model in (both, alone):
    model.add(x_expensive, expensive(x_expensive), fidelity="expensive")
    model.fit(progress=True, seed=1)


def rmse(model):
    return float(np.sqrt(np.mean((model.predict(grid) - expensive(grid)) ** 2)))


# %% [markdown]
# ## Designing
# In each round the server proposes two informative, diverse inputs (by a determinantal point process); we run the
# expensive simulator there, and fit again.

# %%
first = both.posterior(grid, quantiles=[0.025, 0.975])
history = [(len(x_expensive), rmse(both), rmse(alone))]
proposed = np.empty(0)
for round_number in range(1, 5):
    design = both.sample_dpp(2, quality="none", method="map", candidates=256, seed=round_number)
    x_new = design.inputs[:, 0]
    for model in (both, alone):
        model.add(x_new, expensive(x_new), fidelity="expensive")
        model.fit(seed=1)
    proposed = np.concatenate([proposed, x_new])
    history.append((len(x_expensive) + len(proposed), rmse(both), rmse(alone)))
    print(f"round {round_number}: RMSE {history[-1][1]:.4f} with cheap runs, {history[-1][2]:.4f} without")
last = both.posterior(grid, quantiles=[0.025, 0.975])
rival = alone.posterior(grid, quantiles=[0.025, 0.975])

# %% [markdown]
# ## Looking

# %%
plt.rcParams.update(
    {
        "font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": INK,
        "axes.labelcolor": INK, "text.color": INK, "xtick.color": INK, "ytick.color": INK, "axes.titlelocation": "left",
        "axes.titlesize": 11, "axes.titleweight": "bold", "legend.frameon": False,
    }
)  # fmt: skip
figure, axes = plt.subplots(2, 2, figsize=(11, 7), constrained_layout=True)


def draw(ax, prediction, color, title, label):
    lower, upper = prediction.quantiles.T
    ax.fill_between(grid, lower, upper, color=color, alpha=0.22, lw=0, label="95 % interval")
    ax.plot(grid, prediction.mean, color=color, lw=2, label=label)
    ax.plot(grid, expensive(grid), color=INK, lw=1, ls=(0, (4, 3)), label="truth")
    ax.set(title=title, xlabel="input", ylabel="output", xlim=(0, 1), ylim=(-1.6, 0.7))


draw(axes[0, 0], first, EXPENSIVE, f"{len(x_expensive)} expensive runs, 50 cheap ones", "prediction")
axes[0, 0].scatter(
    x_expensive, expensive(x_expensive), color=DATA, s=34, zorder=3, clip_on=False, label="expensive runs"
)
draw(axes[0, 1], last, EXPENSIVE, f"With the {len(proposed)} runs that were proposed", "prediction")
axes[0, 1].scatter(
    x_expensive, expensive(x_expensive), color=DATA, s=34, zorder=3, clip_on=False, label="expensive runs"
)
axes[0, 1].scatter(
    proposed,
    expensive(proposed),
    facecolor="white",
    edgecolor=DATA,
    lw=1.8,
    s=38,
    zorder=3,
    clip_on=False,
    label="proposed runs",
)
draw(
    axes[1, 0],
    rival,
    ALONE,
    f"The same {len(x_expensive) + len(proposed)} expensive runs without the cheap ones",
    "prediction",
)
everything = np.concatenate([x_expensive, proposed])
axes[1, 0].scatter(everything, expensive(everything), color=DATA, s=34, zorder=3, clip_on=False, label="expensive runs")
axes[0, 1].legend(ncol=3, loc="upper left", fontsize=8.5)

runs, with_cheap, without = np.array(history).T
axes[1, 1].semilogy(runs, without, "o-", color=ALONE, lw=2)
axes[1, 1].semilogy(runs, with_cheap, "o-", color=EXPENSIVE, lw=2)
axes[1, 1].text(runs[-1], 1.2 * without[-1], "expensive runs alone", color=ALONE, ha="right")
axes[1, 1].text(runs[2] - 0.2, 0.8 * with_cheap[2], "with 50 cheap ones", color=EXPENSIVE, ha="right")
axes[1, 1].set(title="Error of the prediction", xlabel="expensive runs", ylabel="RMSE", xticks=runs)
axes[1, 1].grid(axis="y", color=CHEAP, alpha=0.3, lw=0.6)
target = sys.argv[1] if __name__ == "__main__" and len(sys.argv) > 1 else "design_loop.png"
if "ipykernel" not in sys.modules:
    figure.savefig(target, dpi=130)
    print(f"wrote {target}")

# %%
for model in (both, alone):
    model.delete()
client.close()
