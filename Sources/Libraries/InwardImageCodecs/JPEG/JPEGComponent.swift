/// One of the colours of a picture, and how its samples lie in blocks of 8×8 (T.81 annex A).
struct JPEGComponent {
    /// What scans call it.
    let identifier: UInt8
    /// How many blocks of it stand beside each other in an MCU, from 1 to 4.
    let horizontal: Int
    /// How many blocks of it stand above each other in an MCU, from 1 to 4.
    let vertical: Int
    /// Which table it was quantized with, from 0 to 3.
    let quantization: Int

    /// How many blocks a row has in a scan of this component alone, which has none that lie outside of the picture.
    var blocksAcross = 0
    /// How many rows of blocks there are in a scan of this component alone.
    var blocksDown = 0
    /// How many blocks a row has where MCUs are whole.
    var storedBlocksAcross = 0
    /// How many rows of blocks there are where MCUs are whole.
    var storedBlocksDown = 0
    /// Where its blocks begin among those of all components.
    var firstBlock = 0

    /// How many blocks there are where MCUs are whole.
    var storedBlocks: Int { storedBlocksAcross * storedBlocksDown }
}
