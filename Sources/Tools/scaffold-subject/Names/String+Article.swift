extension String {
    /// These words behind the article that they are spoken with: `a blog entry`, `an order`, `a user`, `an hour`.
    var withArticle: String { (beginsWithVowelSound ? "an " : "a ") + self }

    private var beginsWithVowelSound: Bool {
        guard let first = split(separator: " ").first, let letter = first.first else { return false }
        // The names of these letters begin with a vowel: an F, an M.
        if String(first).isAbbreviation { return "AEFHILMNORSX".contains(letter) }
        if ["heir", "honest", "honor", "honour", "hour"].contains(where: first.hasPrefix) { return true }
        if ["unin", "unim"].contains(where: first.hasPrefix) { return true }
        if ["eu", "one", "uni", "use", "usa", "usu", "uti"].contains(where: first.hasPrefix) { return false }
        return "aeiou".contains(letter)
    }
}
