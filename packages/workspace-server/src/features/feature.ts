import type { KubeObject } from "@virtual-workspaces/apimachinery";
import type { Workspaces } from "@virtual-workspaces/forwarding";
import type { VirtualWorkspace } from "@virtual-workspaces/framework";
import type { Log } from "@virtual-workspaces/framework/server";
import type { Awaitable } from "@virtual-workspaces/framework/storage";
import type { Store } from "@virtual-workspaces/store";
import type { ServedShards } from "../loopback/loopback.ts";
import type { WorkspaceServerOptions } from "../server-options.ts";
import type { FlagSet, FlagTypes, FlagValues, ValuesOfTypes } from "./flags.ts";

/**
 * Feature of a workspace server: its flags, and its contributions to the server. `virtual-workspaces start` has a list of features, and adds the
 * default export of each module that `--feature` names.
 *
 * Security: the code of a feature has the permissions of the process, and access to all workspaces as a member of `system:masters`.
 */
export interface WorkspaceServerFeature<Flags extends FlagSet = FlagSet, Uses extends FlagTypes = FlagTypes> {
  /** Name of the feature: a DNS label, unique in a server. Flags of a feature that `--feature` names are called `<name>`, or begin with `<name>-`. */
  readonly name: string;
  /** Heading of its flags in the help. @default `Feature <name>` */
  readonly heading?: string;
  /** Flags of the feature, used for parsing, help and completion. @default none */
  readonly flags?: Flags;
  /** Flags of other features or the command that this feature reads, with their types. A server without one of them does not start. @default none */
  readonly uses?: Uses;
  /**
   * Reads the flags and the files that they name. It has no side effects and does not load the feature's code: functions of the result do that.
   *
   * @returns the contributions of the feature, a plain object; `undefined` if the flags disable it
   * @throws the Error of {@link FeatureFlags.usageError} on invalid flags
   */
  read(given: FeatureFlags<Flags, Uses>): FeatureParts | undefined;
}

/** Command line for {@link WorkspaceServerFeature.read}. */
export interface FeatureFlags<Flags extends FlagSet = FlagSet, Uses extends FlagTypes = FlagTypes> {
  /** Values of the feature's own flags, and of those in `uses`. */
  readonly values: FlagValues<Flags> & ValuesOfTypes<Uses>;
  /** Names of the included batteries (`--batteries-included`). */
  readonly batteries: ReadonlySet<string>;
  /** Logs a warning when the server starts. */
  warn(message: string): void;
  /** Returns the error for invalid flags: the command exits with code 2 and this message, which names the flag, the value and the remedy. */
  usageError(message: string): Error;
}

/** Contributions of a feature to a server. Each function is called once for a server, or once for each shard if it takes one. */
export interface FeatureParts {
  /** Host names and addresses to add to the server's certificate. @default none */
  readonly hosts?: readonly string[];
  /** Whether the server becomes ready only after the manifests of the feature are applied and it runs, or before that. @default "before-ready" */
  readonly begins?: "before-ready" | "after-ready";
  /** Whether the command prints the URLs of the feature's views when it is ready. Unnecessary for views with URLs in objects. @default true */
  readonly listed?: boolean;
  /** Returns options of the server. Two features cannot set the same option. @default none */
  options?(): Awaitable<FeatureServerOptions>;
  /**
   * Returns the views of a shard, before the shard serves. A view replaces one of the same name of an earlier feature in the list.
   *
   * @default none
   */
  views?(shard: FeatureShard): Awaitable<readonly VirtualWorkspace[]>;
  /** Returns objects to apply in the workspace `root` at each startup, in order. A CustomResourceDefinition is established before the next. @default none */
  manifests?(): Awaitable<readonly KubeObject[]>;
  /**
   * Starts controllers and managers of a shard. For `root`, it is called once the server listens and the manifests are applied, in the order of the
   * list. For another shard, it is called at each start before the shard serves; requests to its workspaces wait. The results are disposed of in
   * reverse order before the listener closes, so that the server still answers their last requests.
   *
   * @default nothing runs
   */
  run?(shard: FeatureShard): Awaitable<AsyncDisposable | undefined>;
}

/** Options of a workspace server that features can set. */
export type FeatureServerOptions = Pick<WorkspaceServerOptions, "admissionWebhooks" | "mounts" | "virtualStorage">;

/** Shard as features see it: its workspaces, and its addresses. */
export interface FeatureShard extends Required<Omit<Workspaces, "identity" | "workspace" | "connectionTo">> {
  /** Identity for requests on behalf of a caller: that caller. See {@link Workspaces.identity}. */
  readonly identity: Workspaces["identity"];
  /**
   * Returns the workspaces of the shard as the server serves them below `/clusters`, for views that read its resources in the
   * process, such as `queryView` of `@virtual-workspaces/query`. {@link FeatureParts.views} must not call it yet.
   *
   * Security: call its `authorize` before its resources.
   */
  workspaces(): VirtualWorkspace;
  /**
   * Returns the shards that the server shows as one at its address, for views over all of them. {@link FeatureParts.views} must not call
   * it yet. `undefined` for a further shard, whose address has its own workspaces only, and for a server with one shard.
   *
   * Security: call `authorize` of a shard's workspaces before their resources.
   */
  shards(): ServedShards | undefined;
  /** Whether this is the shard `root`, of which a process has exactly one: singletons of the process run there. */
  readonly isRoot: boolean;
  /** Opens the store for objects of the shard's views, shared by all features. The server closes it. */
  openStore(): Promise<Store>;
  /** Addresses of the shard, once it listens; stays pending if it never does. {@link FeatureParts.views} must not wait for it. */
  readonly address: Promise<FeatureAddress>;
  /** CA certificates of the server, PEM. */
  readonly ca: string;
  /** Directory for files of this feature, below the root directory of the server. Absolute; the feature creates it. */
  readonly directory: string;
  /** Log of the server. */
  readonly log: Log;
}

/** Addresses of a shard. URLs have no trailing slash. */
export interface FeatureAddress {
  /** URL of the shard for clients. */
  readonly baseURL: string;
  /** URL of this process alone, even if other processes serve the same store behind the same {@link baseURL}. */
  readonly processURL: string;
}

/** Contributions of an enabled feature, with its name. */
export interface NamedFeature extends FeatureParts {
  /** Name of the feature, see {@link WorkspaceServerFeature.name}. */
  readonly name: string;
}

/** Error that a feature has thrown, as its `cause` and with its message. */
export class FeatureError extends Error {
  override readonly name = "FeatureError";
  /** Name of the feature. */
  readonly feature: string;

  /** @internal */
  constructor(feature: string, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.feature = feature;
  }
}

/** Defines a feature; infers the types of its flag values. */
export function defineFeature<const Flags extends FlagSet, const Uses extends FlagTypes>(
  feature: WorkspaceServerFeature<Flags, Uses>,
): WorkspaceServerFeature<Flags, Uses> {
  return feature;
}
