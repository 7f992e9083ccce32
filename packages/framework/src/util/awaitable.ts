/** Now or later. What answers at once keeps the request synchronous, and cheaper. */
export type Awaitable<T> = T | Promise<T>;
