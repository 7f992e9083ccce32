import type { Log } from "../../observe/log/log.ts";

/** Why a token is refused, in words that hold nothing of it. */
export class Refusal extends Error {
  override readonly name = "Refusal";
}

/** Lines at once, and for how long (ms) each one counts. */
const BURST = 10;
const PER_LINE = 1000;
/** What strangers send is shown no longer than this. */
const SHOWN = 200;

export interface RefusedToken {
  /** What the token says, unverified. */
  readonly issuer?: string | undefined;
  readonly keyId?: string | undefined;
  readonly reason: string;
}

/** Tells of refused tokens: why somebody is nobody is what is asked most about tokens. Floods are counted, not told. */
export class Refusals {
  readonly #log: Log;
  #lines = BURST;
  #countedAt = performance.now();
  #untold = 0;

  constructor(log: Log) {
    this.#log = log;
  }

  tell({ issuer, keyId, reason }: RefusedToken): void {
    const now = performance.now();
    this.#lines = Math.min(BURST, this.#lines + (now - this.#countedAt) / PER_LINE);
    this.#countedAt = now;
    if (this.#lines < 1) {
      this.#untold += 1;
      return;
    }
    this.#lines -= 1;
    const untold = this.#untold === 0 ? {} : { untold: this.#untold };
    this.#untold = 0;
    const token = {
      ...(issuer !== undefined && { issuer: cut(issuer) }),
      ...(keyId !== undefined && { keyId: cut(keyId) }),
    };
    this.#log({ level: "info", message: "token refused", ...token, reason, ...untold });
  }
}

function cut(text: string): string {
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}
