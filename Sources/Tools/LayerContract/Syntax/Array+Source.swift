extension [UInt8] {
    /// Where the word ends that goes on at this place.
    func endOfWord(from start: Int) -> Int {
        var index = start
        while index < count, self[index].continuesWord { index += 1 }
        return index
    }

    /// Where the line ends that goes on at this place.
    func endOfLine(from start: Int) -> Int {
        var index = start
        while index < count, !self[index].isLineBreak { index += 1 }
        return index
    }
}
