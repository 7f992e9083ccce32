/** A value or a promise of it. Values keep the request synchronous, which is cheaper. */
export type Awaitable<T> = T | Promise<T>;
