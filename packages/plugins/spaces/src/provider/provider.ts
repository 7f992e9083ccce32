import type { Log } from "@virtual-workspaces/framework/server";
import type { Awaitable } from "@virtual-workspaces/framework/storage";
import type { AccessScope } from "../kinds/names.ts";

/** How to reach a space: a kubeconfig, for whoever is where the management cluster is, and for everybody else. One alone is for both. Secret. */
export type SpaceAccess = Readonly<Partial<Record<AccessScope, string>>>;

/** A space, as its provider has it (a physical space). */
export interface PhysicalSpace {
  /** Its name there. */
  readonly name: string;
  /** Which one it is: one that is deleted and made again by its name has another. At most 253 characters. @default they are not told apart */
  readonly id?: string;
  /** `Ready`: it answers. `Initializing`: it will, or does not any more, or not now. */
  readonly phase: "Initializing" | "Ready";
  /** Why it is not ready, for people, without anything secret. */
  readonly message?: string;
  /** Which {@link SpaceProvider.access} there is to it: another one when credentials are rotated. @default one for ever */
  readonly accessVersion?: string;
  /** What else it is called, the name of its logical cluster for one: clients find the Space by that. */
  readonly externalName?: string;
}

/** Where in a provider's hierarchy, and until when. */
export interface ProviderCall {
  /** Below which workspace path; `undefined`: where the provider has spaces by itself. */
  readonly parent: string | undefined;
  /** Aborts when nobody waits for it any more. */
  readonly signal: AbortSignal;
}

/** Something has changed at a provider. A hint: what it is like now is asked for. */
export interface ProviderChange {
  /** Which space. @default any: all are asked for */
  readonly name?: string;
}

/**
 * What the manager asks of a provider. Calls are made again after failures, and after the manager was killed in the middle of them: each has to be harmless
 * when done twice. What is thrown is told in the condition of the Space, by its message, which must have nothing secret in it.
 */
export interface SpaceProvider {
  /** All spaces that there are. The list is taken at its word: what is not on it is not there. */
  list(call: ProviderCall): Promise<readonly PhysicalSpace[]>;
  /** One of them; `undefined`: there is none. */
  get(name: string, call: ProviderCall): Promise<PhysicalSpace | undefined>;
  /** How a space is reached that is ready: asked for when it becomes so, and when {@link PhysicalSpace.accessVersion} is another. */
  access(name: string, call: ProviderCall): Promise<SpaceAccess>;
  /** Begins to make one; resolves before it is ready, and if it is there already. Leave it out where none can be made. */
  create?(name: string, call: ProviderCall): Promise<void>;
  /** Begins to delete one; resolves before it is gone, and if there is none. Leave it out where none can be deleted. */
  delete?(name: string, call: ProviderCall): Promise<void>;
  /** Says what changes, from the moment it is called until its iteration ends or throws, when it is called again. @default they are listed every {@link SpaceManagerOptions.pollEvery} */
  watch?(call: ProviderCall): AsyncIterable<ProviderChange>;
}

/** What a provider is opened with. */
export interface ProviderContext {
  /** The name of its SpaceProviderDesc. */
  readonly name: string;
  /** What its Secret has, by key. Empty where it names none. */
  readonly secret: Readonly<Record<string, string>>;
  /** Aborts when nobody waits for it to be opened any more: {@link SpaceManagerOptions.callTimeout} is over, or the manager ends. */
  readonly signal: AbortSignal;
  readonly log: Log;
}

/** A type of provider, as `spec.ProviderType` names it. */
export interface SpaceProviderType {
  /** Whether a SpaceProviderDesc of it must name a Secret. @default false */
  readonly needsSecret?: boolean;
  /**
   * Opens one: for each SpaceProviderDesc of the type, and again when its Secret changes. What is disposable about it is disposed of when it is not
   * needed any more.
   *
   * @throws Error with what is wrong with the Secret, and the remedy, and nothing of what is in it
   */
  open(context: ProviderContext): Awaitable<SpaceProvider & Partial<AsyncDisposable>>;
}

/** Whether a provider says the same of a space. */
export function sameSpace(one: PhysicalSpace, other: PhysicalSpace): boolean {
  const text = ({ name, id, phase, message, externalName, accessVersion }: PhysicalSpace): string =>
    JSON.stringify([name, id, phase, message, externalName, accessVersion]);
  return text(one) === text(other);
}

/** What a provider without a hierarchy says to somebody who wants a space in one: else a space would have two names. @throws Error */
export function rejectParent(parent: string | undefined): void {
  if (parent !== undefined)
    throw new Error(
      "its provider has no hierarchy: take the annotation kubestellar.io/space-path off, which says where in it the space is to be",
    );
}
