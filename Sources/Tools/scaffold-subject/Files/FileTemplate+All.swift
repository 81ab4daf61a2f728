extension FileTemplate {
    /// All files of a subject, from the inside out, each ring's tests behind the ring.
    static let all = [
        entity, entityID, entityError, entityTests,
        repositoryPort, listUseCase, listError, listUseCaseTests,
        dto, upstreamRepository, listViewModel, listPresenter, upstreamRepositoryTests, listPresenterTests,
        inMemoryRepository, entityExample, inMemoryRepositoryTests,
        featureContainer, interactionContainer, featureContainerTests,
    ]
}
