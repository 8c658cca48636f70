"""The policy's network in PyTorch: the same function as ``geo_patrol.agents.policy`` computes in NumPy."""

from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from geo_patrol.agents import policy
from geo_patrol.agents.memory import OrderMemory
from geo_patrol.base.errors import ConfigError
from geo_patrol.engine.observe import OBSERVED_SATELLITES, TOKEN_COLUMNS, TOKEN_SIZE, TOKEN_TABLE_SIZE, Encoding
from geo_patrol.engine.state import GUARD, ORDERS, SATELLITES, SHOOT

_ILLEGAL_LOGIT = -1e9

assert (SHOOT, GUARD) == (policy.SIMPLE_ORDERS - 1, ORDERS - 1), "forward puts the logits of attacks between these"


class NetworkOutput(NamedTuple):
    """What the network says of n positions."""

    choices: Tensor
    """Indices into (n * 11) of the satellites with a choice."""
    logits: Tensor
    """(choices, k, 28), of their orders by each component of the policy."""
    component_logits: Tensor
    """(n, k), of the components."""
    values: Tensor
    """(n,)."""

    def given(self, actions: Tensor) -> Tensor:
        """Return the logits of each satellite's order given those of the satellites before it, (choices, 28).

        By the chain rule, the log-probabilities of the orders of a joint action, (n, 11), add up to its own, over all
        components that it may have been drawn from. So the satellites of a mixture can be treated one by one, as if they
        chose in turn; those of a single component are independent, and nothing depends on the actions.
        """
        components = self.component_logits.shape[1]
        if components == 1:
            return self.logits[:, 0]
        log_probs = functional.log_softmax(self.logits, 2)
        index = actions.view(-1)[self.choices][:, None, None].expand(-1, components, 1)
        chosen = log_probs.new_zeros(actions.numel(), components)
        chosen = chosen.index_copy(0, self.choices, log_probs.gather(2, index)[:, :, 0]).view(
            *actions.shape, components
        )
        before = chosen.cumsum(1) - chosen
        posterior = functional.log_softmax(self.component_logits[:, None] + before, 2)
        return torch.logsumexp(posterior.flatten(0, 1)[self.choices][:, :, None] + log_probs, 1)


class PolicyNetwork(nn.Module):
    """Logits of the orders of every satellite that has a choice, and a value of the position.

    Args:
        weights: arrays by name, as ``geo_patrol.agents.policy.shapes`` says.
    """

    satellite_scales: Tensor
    game_scales: Tensor
    memory_scales: Tensor
    kinds: Tensor
    fleets: Tensor
    numbers: Tensor

    def __init__(self, weights: policy.Weights) -> None:
        super().__init__()
        self.w = nn.ParameterDict({name: torch.tensor(array) for name, array in weights.items()})
        self.register_buffer("satellite_scales", torch.tensor(policy.SATELLITE_SCALES))
        self.register_buffer("game_scales", torch.tensor(policy.GAME_SCALES))
        self.register_buffer("memory_scales", torch.tensor(policy.MEMORY_SCALES), persistent=False)
        self.register_buffer("kinds", torch.tensor(policy.KIND_OF_ROW * policy.SECTORS))
        self.register_buffer("fleets", torch.tensor(policy.FLEETS))
        self.register_buffer("numbers", torch.eye(SATELLITES))

    def forward(self, observations: Tensor, masks: Tensor) -> NetworkOutput:
        """Evaluate positions.

        Args:
            observations: (n, 249) int16, in the encoding "tokens"; behind them what a policy with a memory remembers, (n, 22).
            masks: (n, 11, 28) bool, True where an order is legal.
        """
        w = self.w
        sectors, own, enemy, context = self._encode(observations)

        choices = (masks.sum(2) > 1).view(-1).nonzero()[:, 0]
        rows, numbers = choices // SATELLITES, choices % SATELLITES
        places = rows * own.shape[1] + numbers
        deciding = own.flatten(0, 1).index_select(0, places)
        order_context = torch.addmm(w["order_bias"], context, w["order_context"]).index_select(0, rows)
        hidden = torch.addmm(order_context, deciding, w["order"])
        component_logits = context.new_zeros(len(context), 1)
        is_same_sector = sectors[rows, numbers, None] == sectors[rows, SATELLITES:]
        components, own_count = 1, own.shape[1]
        if "component" in w:
            component_logits = torch.addmm(w["mixing_bias"], context, w["mixing"])
            components = component_logits.shape[1]
            # A row for each component of a satellite, as if it were a satellite of its own.
            hidden = (hidden[:, None] + w["component"]).flatten(0, 1)
            places = (places[:, None] * components + torch.arange(components, device=places.device)).flatten()
            is_same_sector = is_same_sector.repeat_interleave(components, 0)
        hidden = functional.relu(hidden)
        simple = hidden @ w["simple"] + w["simple_bias"]
        attacks = self._attack_logits(places, own_count * components, enemy, hidden, is_same_sector)
        last = policy.SIMPLE_ORDERS - 1
        logits = torch.cat([simple[:, :last], attacks.reshape(-1, policy.ATTACKS * SATELLITES), simple[:, last:]], 1)
        logits = logits.view(-1, components, ORDERS).masked_fill(~masks.view(-1, 1, ORDERS)[choices], _ILLEGAL_LOGIT)
        return NetworkOutput(choices, logits, component_logits, self._value(context))

    def values(self, observations: Tensor) -> Tensor:
        """Return the values of positions, (n,), without the logits."""
        return self._value(self._encode(observations)[-1])

    def _value(self, context: Tensor) -> Tensor:
        return (context @ self.w["value"] + self.w["value_bias"])[:, 0]

    def _encode(self, observations: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return sectors, (n, 22); embeddings of own and of enemy satellites, (n, up to 11, width); the context, (n, width).

        The last satellites of a fleet, as long as no position has them, are left out: nothing depends on them, and on small
        boards most of the time went into them.
        """
        w = self.w
        table = observations[:, :TOKEN_TABLE_SIZE].view(-1, OBSERVED_SATELLITES, TOKEN_COLUMNS)
        sectors = table[:, :, 0].long()
        features = (table[:, :, 1:] * self.satellite_scales).clamp_(0, policy.HIGHEST_INPUT)
        game = (observations[:, TOKEN_TABLE_SIZE:TOKEN_SIZE] * self.game_scales).clamp_(
            -policy.HIGHEST_INPUT, policy.HIGHEST_INPUT
        )
        indices = sectors + self.kinds
        game_term = torch.addmm(w["satellite_bias"], game, w["game"])[:, None]
        is_active = features[:, :, policy.ACTIVE]
        last = [int(fleet.nonzero().max()) + 1 if fleet.any() else 1 for fleet in is_active.any(0).split(SATELLITES)]
        own_columns, enemy_columns = slice(last[0]), slice(SATELLITES, SATELLITES + last[1])
        own_inputs = torch.cat([features[:, own_columns], self.numbers[own_columns].expand(len(game), -1, -1)], 2)
        own_weights = torch.cat([w["own_figures"], w["number"]])
        own = self._embed(indices[:, own_columns], own_inputs, own_weights, game_term)
        enemy = self._embed(indices[:, enemy_columns], features[:, enemy_columns], w["enemy_figures"], game_term)

        counts = self.fleets * is_active[:, None]  # own HVA, own Patrols, enemy HVA, enemy Patrols
        sums = [counts[:, :2, own_columns] @ own, counts[:, 2:, enemy_columns] @ enemy]
        board = game.new_zeros(len(game), len(w["board"])).scatter_add_(1, indices, is_active)
        pooled = [*(of_side.flatten(1) for of_side in sums), game, board]
        weights = [w["pool"], w["board"]]
        if self.has_memory:
            pooled.append((observations[:, TOKEN_SIZE:] * self.memory_scales).clamp_(0, policy.HIGHEST_INPUT))
            weights.append(w["memory"])
        context = functional.relu(torch.addmm(w["pool_bias"], torch.cat(pooled, 1), torch.cat(weights)))
        return sectors, own, enemy, functional.relu(torch.addmm(w["context_bias"], context, w["context"]))

    def _embed(self, indices: Tensor, inputs: Tensor, weights: Tensor, game_term: Tensor) -> Tensor:
        """Return embeddings of one side's satellites, (n, 11, width), in few passes over memory, which is the cost."""
        embedded = functional.embedding(indices.flatten(), self.w["place"])
        embedded = torch.addmm(embedded, inputs.flatten(0, 1), weights).view(*indices.shape, -1)
        return (embedded + game_term).relu_()

    def _attack_logits(
        self, places: Tensor, own_count: int, enemy: Tensor, hidden: Tensor, is_same_sector: Tensor
    ) -> Tensor:
        """Return logits of shooting at and of colliding with each enemy, (choices, 2, 11)."""
        w = self.w
        width = w["key"].shape[1] // policy.ATTACKS
        queries = enemy.new_zeros(len(enemy) * own_count, policy.ATTACKS * width)
        queries = queries.index_copy(0, places, hidden @ w["query"])
        queries = queries.view(-1, own_count, policy.ATTACKS, width).transpose(1, 2)
        keys = (enemy @ w["key"]).view(*enemy.shape[:2], policy.ATTACKS, width).permute(0, 2, 3, 1)
        logits = (queries @ keys).transpose(1, 2).flatten(0, 1).index_select(0, places)
        logits = functional.pad(logits, (0, SATELLITES - enemy.shape[1]))  # no one can attack those that are left out
        logits = logits / width**0.5 + (hidden @ w["attack"])[:, :, None]
        return logits + (hidden @ w["attack_same_sector"])[:, :, None] * is_same_sector[:, None]

    @property
    def has_memory(self) -> bool:
        """Whether it has what ``OrderMemory`` remembers among its inputs."""
        return "memory" in self.w

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.w["value"].device

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """Return a copy of the weights as NumPy arrays, which ``write_weights`` takes."""
        return {name: array.detach().cpu().numpy().copy() for name, array in self.w.items()}


def sample_actions(network: PolicyNetwork, observations: Tensor, masks: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Sample an action for every position.

    Args:
        network: the policy.
        observations: as ``PolicyNetwork.forward`` takes them, on the network's device.
        masks: (n, 11, 28) bool, on the network's device.

    Returns:
        Actions, (n, 11); log-probabilities of each satellite's order given those before it, (n, 11), 0 where it has no
        choice; values, (n,).
    """
    with torch.no_grad():
        scores = network(observations, masks)
        choices, logits = scores.choices, scores.logits[:, 0]
        if scores.logits.shape[1] > 1:
            drawn = _sample(scores.component_logits)[choices // SATELLITES]
            logits = scores.logits[torch.arange(len(drawn), device=drawn.device), drawn]
        actions = choices.new_zeros(masks.shape[:2])
        actions.view(-1)[choices] = orders = _sample(logits)
        log_probs = logits.new_zeros(masks.shape[:2])
        all_log_probs = functional.log_softmax(scores.given(actions), 1)
        log_probs.view(-1)[choices] = all_log_probs.gather(1, orders[:, None])[:, 0]
    return actions, log_probs, scores.values


def _sample(logits: Tensor) -> Tensor:
    """Sample a column of each row, (n,), by the Gumbel-max trick."""
    return (logits - torch.empty_like(logits).exponential_().log_()).argmax(1)


class TrainingAgent:
    """A network as an agent: a past policy in the league, or the current one in an evaluation."""

    observation: Encoding = "tokens"

    def __init__(self, network: PolicyNetwork, name: str) -> None:
        self.network, self.name = network, name
        self.stateless = not network.has_memory
        self._memory = OrderMemory()

    def reset(self, new_games: NDArray[np.bool_]) -> None:
        """Let a policy with a memory forget the games that are over."""
        if not self.stateless:
            self._memory.reset(new_games)

    def act(
        self,
        observations: NDArray[Any],
        action_masks: NDArray[np.int8],
        generator: np.random.Generator,  # noqa: ARG002 - sampling uses PyTorch's stream
    ) -> NDArray[np.int64]:
        """Sample actions, (n, 11)."""
        device = self.network.device
        inputs = observations[:, :TOKEN_SIZE]
        if not self.stateless:
            inputs = np.concatenate([inputs, self._memory.update(observations)], axis=1)
        masks = torch.as_tensor(action_masks, device=device).bool()
        sampled = sample_actions(self.network, torch.as_tensor(inputs, device=device), masks)[0]
        actions: NDArray[np.int64] = sampled.cpu().numpy()
        return actions

    def act_tensors(self, observations: Tensor, action_masks: Tensor) -> Tensor:
        """Sample actions of a policy without a memory, (n, 11), where the network is; this is how it plays on a GPU."""
        return sample_actions(self.network, observations[:, :TOKEN_SIZE], action_masks.bool())[0]


def freeze(network: PolicyNetwork, name: str) -> TrainingAgent:
    """Return an agent that goes on playing as the network does now."""
    return TrainingAgent(deepcopy(network), name)


def resolve_device(name: str) -> torch.device:
    """Return the device of that name; "auto" is a GPU if PyTorch finds one.

    Raises:
        ConfigError: PyTorch cannot use the device.
    """
    available = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name == "auto":
        name = next(kind for kind, is_available in available.items() if is_available)
    if not available.get(name, False):
        raise ConfigError(f"device = {name!r}: PyTorch finds no such device here; choose auto or cpu")
    return torch.device(name)
