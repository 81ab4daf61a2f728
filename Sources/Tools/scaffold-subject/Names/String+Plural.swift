extension String {
    /// The plural by the rules of English that have few exceptions; whoever meets one says so with `--plural`.
    var englishPlural: String {
        if hasSuffix("is") { return dropLast(2) + "es" }
        if ["s", "x", "z", "ch", "sh"].contains(where: hasSuffix) { return self + "es" }
        if hasSuffix("y"), let before = dropLast().last, !"aeiou".contains(before.lowercased()) {
            return dropLast() + "ies"
        }
        return self + "s"
    }
}
