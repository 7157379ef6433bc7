"""Train the network of small_cnn.py in a second form, with the layers of `mat.nn`: convolution and
pooling of images with channels, and their derivatives. Both forms compute the same.

Run: python examples/small_cnn_layers.py
"""

from __future__ import annotations

from small_cnn import CLASSES, Network, make_pictures

import mat


class LayerNetwork(Network):
    """The same network; images are (n, channels, y, x), and nothing is unfolded into windows."""

    def forward(self, pictures: mat.Mat) -> mat.Mat:
        """Return the probabilities of the classes."""
        self.seen = pictures[:, None]
        self.maps = mat.maximum(mat.nn.conv(self.seen, self.w[:, None]) + self.b[:, None, None], 0)
        self.pooled = mat.nn.pool(self.maps, 2)
        self.flat = self.pooled.transpose(0, 2, 3, 1).reshape(len(pictures), -1)
        scores = self.flat @ self.v + self.c
        scores = mat.exp(scores - scores.max(axis=1, keepdims=True))
        return scores / scores.sum(axis=1, keepdims=True)

    def train_step(self, pictures: mat.Mat, labels: mat.Mat, rate: float) -> float:
        """Step down the gradient of the mean cross-entropy, and return that."""
        p = self.forward(pictures)
        n, filters, height, width = self.pooled.shape
        loss = -mat.log(p[mat.arange(n), labels]).mean()
        error = (p - mat.eye(len(CLASSES))[labels]) / n
        back = (error @ self.v.T).reshape(n, height, width, filters).transpose(0, 3, 1, 2)
        maps = mat.nn.derive_pool(self.maps, mat.zeros(self.maps.shape), self.pooled, back, 2)
        maps *= self.maps > 0
        weights = self.w[:, None]
        _, slope = mat.nn.derive_conv(self.seen, None, weights, mat.zeros(weights.shape), maps)
        self.v -= rate * self.flat.T @ error
        self.c -= rate * error.sum(axis=0)
        self.w -= rate * slope[:, 0]
        self.b -= rate * maps.sum(axis=(0, 2, 3))
        return loss


def main() -> None:
    pictures, labels = make_pictures(240)
    first, second = Network(filters=4), LayerNetwork(filters=4)
    for epoch in range(4):
        losses = [[network.train_step(pictures[k:k + 30], labels[k:k + 30], rate=0.3)
                   for k in range(0, 180, 30)] for network in (first, second)]
        means = [float(mat.mean(mat.array(each))) for each in losses]
        print(f"epoch {epoch}: loss {means[0]:.4f} by windows, {means[1]:.4f} by layers")
    difference = float(abs(first.w - second.w).max())  # which depends on the order of sums
    print(f"the weights differ by less than 1e-15: {difference < 1e-15}")
    found = second.forward(pictures[180:]).argmax(axis=1)
    print(f"accuracy {float(mat.mean(found == labels[180:])):.1%}")


if __name__ == "__main__":
    main()
