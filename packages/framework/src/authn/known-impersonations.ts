import type { User } from "../request/user.ts";
import { type ImpersonationMode, impersonationModes } from "./constrained-impersonation.ts";
import { type Impersonation, impersonationOf } from "./headers.ts";

/** Impersonation of some lines; `undefined`: none. */
interface Known {
  readonly impersonation: Impersonation | undefined;
}

interface KnownModes {
  readonly requestor: User;
  readonly modes: readonly ImpersonationMode[];
}

/**
 * Impersonations by the lines of their headers. Requests of the same process repeat frozen lines, whose impersonation is read once; its
 * user is then one object, under which authorizers keep what follows from it. Security: keeps no decisions. Each request is
 * authorized.
 */
export class KnownImpersonations {
  readonly #known = new WeakMap<readonly string[], Known>();
  readonly #modes = new WeakMap<Impersonation, KnownModes>();

  /** Same as {@link impersonationOf}. @throws as it does */
  of(rawHeaders: readonly string[]): Impersonation | undefined {
    if (!Object.isFrozen(rawHeaders)) return impersonationOf(rawHeaders);
    let known = this.#known.get(rawHeaders);
    if (known === undefined) {
      known = { impersonation: impersonationOf(rawHeaders) };
      this.#known.set(rawHeaders, known);
    }
    return known.impersonation;
  }

  /** Same as {@link impersonationModes}. */
  modes(impersonation: Impersonation, requestor: User): readonly ImpersonationMode[] {
    let known = this.#modes.get(impersonation);
    if (known?.requestor !== requestor) {
      known = { requestor, modes: impersonationModes(impersonation, requestor) };
      this.#modes.set(impersonation, known);
    }
    return known.modes;
  }
}
