"""Networks as users write them, for the tests."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.layer = nn.Sequential(nn.Linear(1591, 308), nn.Dropout(0.9))

    def forward(self, onehot):
        assert not self.training
        assert onehot.dtype == torch.float32
        return self.layer(onehot)


class Masked(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(63, 4), nn.Linear(88, 308)

    def forward(self, tokens, action_mask):
        satellites = self.embed(tokens[:, :176].view(-1, 22, 8)[..., 0]).flatten(1)
        return self.head(satellites).view(-1, 11, 28).masked_fill(~action_mask, -torch.inf), satellites.sum(1)


ready = Net()
Wrong = nn.Linear


def uniform(onehot, temperature=1.0):
    return torch.zeros(len(onehot), 308, dtype=torch.float64) / temperature


def function():
    return uniform


def size():
    return lambda onehot: (len(onehot), 308)


def raises():
    raise RuntimeError("no weights")
