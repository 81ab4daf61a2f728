/// Which waves of a channel are kept: the slower ones, of a triangle.
struct ThumbHashWaves {
    /// How many there are across.
    let columns: Int
    /// How many there are down.
    let rows: Int

    /// The waves without the mean, in the order they are stored in: how often each swings across and down.
    var pairs: [(across: Int, down: Int)] {
        var pairs: [(across: Int, down: Int)] = []
        for down in 0..<rows {
            var across = down == 0 ? 1 : 0
            while across * rows < columns * (rows - down) {
                pairs.append((across, down))
                across += 1
            }
        }
        return pairs
    }
}
