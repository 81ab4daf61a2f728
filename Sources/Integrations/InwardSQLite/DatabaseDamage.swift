#if SQLite
import GRDB

/// Why a database cannot be trusted as it is.
struct DatabaseDamage: Error, Equatable {
    /// What is wrong with it, as a part of a sentence.
    let explanation: String

    init(_ explanation: String) {
        self.explanation = explanation
    }

    /// What an error says of a database; `nil` if it says nothing against it.
    init?(_ error: any Error) {
        if let damage = error as? DatabaseDamage {
            self = damage
        } else if let error = error as? DatabaseError,
            [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode)
        {
            self.init(error.message ?? "it cannot be read")
        } else {
            return nil
        }
    }
}
#endif
