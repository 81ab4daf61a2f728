extension String {
    /// The words of a name in upper camel case. An abbreviation such as `URL` is one word, and so are several: `URLs`.
    var words: [String] {
        let letters = Array(self)
        var words: [String] = []
        for (index, letter) in letters.enumerated() {
            let before = index > 0 ? letters[index - 1] : nil
            let after = letters[(index + 1)...]
            let endsAbbreviation = after.first?.isLowercase == true && after != ["s"]
            if letter.isUppercase, before?.isLowercase != false || endsAbbreviation {
                words.append(String(letter))
            } else {
                words[words.endIndex - 1].append(letter)
            }
        }
        return words
    }

    /// A name in upper camel case as variables and functions are named.
    var lowerCamelCase: String {
        let words = words
        return (words.first?.lowercased() ?? "") + words.dropFirst().joined()
    }

    /// A name in upper camel case as it is written within a sentence.
    var prose: String {
        words.map { $0.isAbbreviation ? $0 : $0.lowercased() }.joined(separator: " ")
    }

    /// These words of a sentence as its beginning.
    var capitalizedSentence: String { prefix(1).uppercased() + dropFirst() }

    /// Whether these are capitals to be read one by one, perhaps several of them.
    var isAbbreviation: Bool { count(where: \.isUppercase) > 1 }
}
