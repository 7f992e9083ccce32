/** A storage that takes `slots` requests at a time, each for `takes` ms; the server has as many seats. */
export const SLOW = { slots: 100, takes: 50 } as const;
