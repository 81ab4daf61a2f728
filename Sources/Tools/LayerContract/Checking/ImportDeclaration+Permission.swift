extension ImportDeclaration {
    /// Whether a permission covers it: a substitute only where what it stands for cannot be imported.
    func isAllowed(by permission: SystemModule) -> Bool {
        permission.name == module && permission.substituted.map(absentModules.contains) ?? true
    }
}
