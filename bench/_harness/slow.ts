/** A storage that takes `slots` requests at a time, each for `takes` ms: as many as a server has seats. */
export const SLOW = { slots: 400, takes: 50 } as const;
