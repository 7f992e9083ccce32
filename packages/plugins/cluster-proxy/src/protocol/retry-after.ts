/**
 * Retry-After of the views' 503, s. A 503 has it if the reason can pass by itself. If a user or an operator must act first it has none, since clients
 * such as kubectl repeat a request with it up to ten times.
 */
export const RETRY_AFTER = 1;
