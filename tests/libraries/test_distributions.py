"""The joint distribution of a side's orders gives illegal ones probability 0 and the others their softmax."""

import pytest

torch = pytest.importorskip("torch")

from geo_patrol.adapters.distributions import OrderDistribution


@pytest.fixture
def logits():
    torch.manual_seed(0)
    return torch.randn(50, 308, requires_grad=True)


@pytest.fixture
def mask():
    torch.manual_seed(1)
    mask = torch.rand(50, 11, 28) < 0.2
    mask[..., 0] = True
    return mask


def test_log_prob_and_entropy_are_sums_over_satellites(logits, mask):
    distribution = OrderDistribution(logits, mask)
    actions = distribution.sample()
    log_probs = logits.view(50, 11, 28).masked_fill(~mask, -torch.inf).log_softmax(-1)
    chosen = log_probs.gather(-1, actions.unsqueeze(-1)).squeeze(-1)
    torch.testing.assert_close(distribution.log_prob(actions), chosen.sum(-1))
    terms = torch.where(mask, -log_probs.exp() * log_probs, 0)
    torch.testing.assert_close(distribution.entropy(), terms.nan_to_num().sum((-1, -2)))
    assert torch.isfinite(torch.autograd.grad(distribution.entropy().sum(), logits)[0]).all()


def test_samples_and_modes_are_legal(logits, mask):
    distribution = OrderDistribution(logits, mask)
    for actions in (*distribution.sample((200,)), distribution.mode):
        assert mask.gather(-1, actions.unsqueeze(-1)).all()


def test_masks_may_be_flat_and_of_any_type(logits, mask):
    expected = OrderDistribution(logits, mask).entropy()
    assert torch.equal(OrderDistribution(logits, mask.view(50, 308).to(torch.int8)).entropy(), expected)


def test_leading_dimensions(logits, mask):
    distribution = OrderDistribution(logits.view(5, 10, 308), mask.view(5, 10, 308))
    assert distribution.sample().shape == (5, 10, 11)
    assert distribution.entropy().shape == (5, 10)
