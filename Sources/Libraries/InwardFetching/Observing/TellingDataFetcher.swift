/// A decorator that tells observers what it does.
protocol TellingDataFetcher: DecoratingDataFetcher {
    var observers: FetchObservers { get set }
}
