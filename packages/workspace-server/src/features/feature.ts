import type { KubeObject } from "@virtual-workspaces/apimachinery";
import type { Workspaces } from "@virtual-workspaces/forwarding";
import type { VirtualWorkspace } from "@virtual-workspaces/framework";
import type { Log } from "@virtual-workspaces/framework/server";
import type { Awaitable } from "@virtual-workspaces/framework/storage";
import type { Store } from "@virtual-workspaces/store";
import type { WorkspaceServerOptions } from "../server-options.ts";
import type { FlagSet, FlagTypes, FlagValues, ValuesOfTypes } from "./flags.ts";

/**
 * A feature of a workspace server: the flags by which it is configured, and what it contributes to the server. `virtual-workspaces start`
 * consists of a list of these, and adds the default export of each module that `--feature` names.
 *
 * Security: the code of a feature runs with the rights of the process, and reaches all workspaces as a member of `system:masters`.
 */
export interface WorkspaceServerFeature<Flags extends FlagSet = FlagSet, Uses extends FlagTypes = FlagTypes> {
  /** A DNS label, unique in a server. Flags of a feature that `--feature` names are called `<name>`, or begin with `<name>-`. */
  readonly name: string;
  /** The heading of its flags in the help. @default `Feature <name>` */
  readonly heading?: string;
  /** Its flags: parsing, help and completion come from this table. @default none */
  readonly flags?: Flags;
  /** Flags of other features, or of the command, whose values it reads, with their types. A server without one of them does not start. @default none */
  readonly uses?: Uses;
  /**
   * Reads the flags and the files that they name. Changes nothing, and does not load the code of the feature: functions of what it returns do that.
   *
   * @returns what the feature contributes, a plain object; `undefined`: the flags turn it off
   * @throws the Error of {@link FeatureFlags.usageError} on a mistake in the flags
   */
  read(given: FeatureFlags<Flags, Uses>): FeatureParts | undefined;
}

/** The command line, as {@link WorkspaceServerFeature.read} reads it. */
export interface FeatureFlags<Flags extends FlagSet = FlagSet, Uses extends FlagTypes = FlagTypes> {
  /** The values of its own flags, and of those that it uses. */
  readonly values: FlagValues<Flags> & ValuesOfTypes<Uses>;
  /** The batteries that are included, by name (`--batteries-included`). */
  readonly batteries: ReadonlySet<string>;
  /** Logs a warning when the server starts. */
  warn(message: string): void;
  /** The error for a mistake in the flags: the command ends with exit code 2 and this message. It names the flag, the value and the remedy. */
  usageError(message: string): Error;
}

/** What a feature contributes to a server. All functions are called once for a server, or once for a shard where they take one. */
export interface FeatureParts {
  /** Host names and addresses that the certificate of the server has to name besides its own. @default none */
  readonly hosts?: readonly string[];
  /**
   * Whether the server is ready only when the manifests of the feature are applied and it runs, or says so before. @default "before-ready"
   */
  readonly begins?: "before-ready" | "after-ready";
  /** Whether the command prints the URLs of its views when it is ready; not needed for views whose URLs are in objects. @default true */
  readonly listed?: boolean;
  /** Options of the server. Two features cannot give the same. @default none */
  options?(): Awaitable<FeatureServerOptions>;
  /**
   * Views of a shard, made before the shard serves. A view takes the place of one of the same name of a feature earlier in the list.
   *
   * @default none
   */
  views?(shard: FeatureShard): Awaitable<readonly VirtualWorkspace[]>;
  /** Objects that are applied in the workspace `root` at each start, in this order: a CustomResourceDefinition is established before what follows it. @default none */
  manifests?(): Awaitable<readonly KubeObject[]>;
  /**
   * Begins what runs over a shard: controllers and managers. Called in `root` once the server listens and the manifests are applied, in the order of
   * the list; in a further shard each time that it starts, before it serves: requests to its workspaces wait. What it returns is disposed of before the
   * listener closes, last begun first, so that the server answers its last requests.
   *
   * @default nothing runs
   */
  run?(shard: FeatureShard): Awaitable<AsyncDisposable | undefined>;
}

/** Options of a workspace server that features give. */
export type FeatureServerOptions = Pick<WorkspaceServerOptions, "mounts" | "virtualStorage">;

/** A shard, as features see it: its workspaces, and where it is reached. */
export interface FeatureShard extends Required<Omit<Workspaces, "identity">> {
  /** As whom the workspaces are asked on behalf of a caller: as that caller. As {@link Workspaces.identity}. */
  readonly identity: Workspaces["identity"];
  /** Whether it is `root`, of which a process has exactly one: what runs once in a process runs there. */
  readonly isRoot: boolean;
  /** Opens the store where the views of the shard keep objects of their own, the same for all features. The server closes it. */
  openStore(): Promise<Store>;
  /** Where it is reached, once it listens; never settles if it does not come to that. {@link FeatureParts.views} must not wait for it. */
  readonly address: Promise<FeatureAddress>;
  /** PEM by which clients trust the server. */
  readonly ca: string;
  /** A folder for files of the feature alone, below the root directory of the server. Absolute; the feature makes it. */
  readonly directory: string;
  /** The log of the server. */
  readonly log: Log;
}

/** Where a shard is reached. URLs end without a slash. */
export interface FeatureAddress {
  /** The URL by which clients reach the shard. */
  readonly baseURL: string;
  /** The URL by which this process is reached, and no other that serves the same store behind the same {@link baseURL}. */
  readonly processURL: string;
}

/** What a feature that is on contributes, with its name. */
export interface NamedFeature extends FeatureParts {
  /** As {@link WorkspaceServerFeature.name}. */
  readonly name: string;
}

/** What a feature has thrown, which is its `cause`, and the feature. Its message is that of the cause. */
export class FeatureError extends Error {
  override readonly name = "FeatureError";
  /** The name of the feature. */
  readonly feature: string;

  /** @internal */
  constructor(feature: string, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.feature = feature;
  }
}

/** Defines a feature: infers the types of the values of its flags. */
export function defineFeature<const Flags extends FlagSet, const Uses extends FlagTypes>(
  feature: WorkspaceServerFeature<Flags, Uses>,
): WorkspaceServerFeature<Flags, Uses> {
  return feature;
}
