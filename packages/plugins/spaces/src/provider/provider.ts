import type { Log } from "@virtual-workspaces/framework/server";
import type { Awaitable } from "@virtual-workspaces/framework/storage";
import type { AccessScope } from "../kinds/names.ts";

/** Kubeconfigs of a space, by scope. If there is only one, clients in both networks use it. Security: the contents are credentials. */
export type SpaceAccess = Readonly<Partial<Record<AccessScope, string>>>;

/** A space as its provider returns it (a physical space). */
export interface PhysicalSpace {
  /** Name of the space at the provider. */
  readonly name: string;
  /** Identifier, at most 253 characters. A space that is deleted and created again gets another one. @default such spaces count as the same */
  readonly id?: string;
  /** `Ready`: the API server answers. `Initializing`: it does not answer yet, or does not at the moment. */
  readonly phase: "Initializing" | "Ready";
  /** Human-readable reason why the space is not ready. Security: it must not contain secrets. */
  readonly message?: string;
  /** Version of {@link SpaceProvider.access}. It changes when credentials are rotated. @default the access never changes */
  readonly accessVersion?: string;
  /** Another name of the space, such as the name of its logical cluster. Clients find the Space by it. */
  readonly externalName?: string;
}

/** Parent and time limit of a call. */
export interface ProviderCall {
  /** Workspace path of the parent; `undefined` is the provider's own place for spaces. */
  readonly parent: string | undefined;
  /** Aborts when the caller no longer waits. */
  readonly signal: AbortSignal;
}

/** Hint that a space at a provider has changed. The manager reads its current state afterwards. */
export interface ProviderChange {
  /** Name of the space. @default any space: the manager lists all */
  readonly name?: string;
}

/**
 * Interface that the manager calls. The manager repeats calls after failures and after a crash in the middle of one, so each must be
 * idempotent. Conditions of the Space show the message of a thrown error. Security: that message must not contain secrets.
 */
export interface SpaceProvider {
  /** Lists all spaces. The manager treats a space that is not in the list as deleted. */
  list(call: ProviderCall): Promise<readonly PhysicalSpace[]>;
  /** Gets one space; `undefined` if it does not exist. */
  get(name: string, call: ProviderCall): Promise<PhysicalSpace | undefined>;
  /** Returns the kubeconfigs of a ready space. Called when it becomes ready and when {@link PhysicalSpace.accessVersion} changes. */
  access(name: string, call: ProviderCall): Promise<SpaceAccess>;
  /** Starts to create a space; resolves before it is ready, and also if it exists. Omit it if the provider cannot create spaces. */
  create?(name: string, call: ProviderCall): Promise<void>;
  /** Starts to delete a space; resolves before it is gone, and also if it does not exist. Omit it if the provider cannot delete spaces. */
  delete?(name: string, call: ProviderCall): Promise<void>;
  /**
   * Reports changes from the call on, until the iteration ends or throws; the manager then calls it again.
   * @default the manager lists every {@link SpaceManagerOptions.pollEvery}
   */
  watch?(call: ProviderCall): AsyncIterable<ProviderChange>;
}

/** Arguments of {@link SpaceProviderType.open}. */
export interface ProviderContext {
  /** Name of the SpaceProviderDesc. */
  readonly name: string;
  /** Contents of its Secret, by key. Empty if it names none. */
  readonly secret: Readonly<Record<string, string>>;
  /** Aborts when {@link SpaceManagerOptions.callTimeout} has passed or the manager shuts down. */
  readonly signal: AbortSignal;
  readonly log: Log;
}

/** Provider type, as `spec.ProviderType` names it. */
export interface SpaceProviderType {
  /** Whether a SpaceProviderDesc of this type must name a Secret. @default false */
  readonly needsSecret?: boolean;
  /**
   * Returns an identifier of the place whose spaces a SpaceProviderDesc has, such as a parent workspace, without a connection to it. Of
   * several SpaceProviderDescs with the same place only the oldest is opened: otherwise each would have, and could delete, the spaces of
   * the others. An exception counts as no place. Neither conditions nor logs show the identifier.
   * @default each SpaceProviderDesc has spaces of its own
   */
  place?(context: Pick<ProviderContext, "name" | "secret">): string | undefined;
  /**
   * Opens a provider for each SpaceProviderDesc of the type, and again when its Secret changes. The manager disposes of a disposable
   * provider when it no longer needs it.
   *
   * @throws Error that states the problem of the Secret and the remedy. Security: its message must not contain the contents of the Secret.
   */
  open(context: ProviderContext): Awaitable<SpaceProvider & Partial<AsyncDisposable>>;
}

/** Reports whether two states of a space are equal. */
export function sameSpace(one: PhysicalSpace, other: PhysicalSpace): boolean {
  const text = ({ name, id, phase, message, externalName, accessVersion }: PhysicalSpace): string =>
    JSON.stringify([name, id, phase, message, externalName, accessVersion]);
  return text(one) === text(other);
}

/** Rejects a parent, for providers without a hierarchy: otherwise one space would have two names. @throws Error */
export function rejectParent(parent: string | undefined): void {
  if (parent !== undefined)
    throw new Error(
      "the provider has no hierarchy: remove the annotation kubestellar.io/space-path, which names a parent",
    );
}
