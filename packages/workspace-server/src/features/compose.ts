import { join } from "node:path";
import { Client } from "@virtual-workspaces/client";
import type { VirtualWorkspace } from "@virtual-workspaces/framework";
import type { Listening, Log } from "@virtual-workspaces/framework/server";
import type { Awaitable } from "@virtual-workspaces/framework/storage";
import { ROOT_CLUSTER, ROOT_SHARD } from "@virtual-workspaces/kcp";
import type { Store } from "@virtual-workspaces/store";
import type { Loopback } from "../loopback/loopback.ts";
import type { WorkspaceServerOptions } from "../server-options.ts";
import type { ShardsOptions } from "../shards/options.ts";
import {
  type FeatureAddress,
  FeatureError,
  type FeatureParts,
  type FeatureServerOptions,
  type FeatureShard,
  type NamedFeature,
} from "./feature.ts";
import { applyManifests } from "./manifests.ts";

/** Server that features are composed for. */
export interface FeatureHost {
  /** Loopback through which features reach the workspaces. Pass the same one to {@link createWorkspaceServer}. */
  readonly loopback: Loopback;
  /** Resolves with the listener's address. */
  readonly listening: Promise<Listening>;
  /** Returns the addresses of a shard on that listener. */
  readonly address: (shard: string, listening: Listening) => FeatureAddress;
  /** Opens the store for objects of a shard's views, and adds its disposal to `own`. */
  readonly openStore: (shard: string, own: AsyncDisposableStack) => Promise<Store>;
  /** Stack for everything opened for `root`. Dispose of it after the server. */
  readonly own: AsyncDisposableStack;
  /** CA certificates of the server, see {@link FeatureShard.ca}. */
  readonly ca: string;
  /** Parent of the features' directories. Absolute. */
  readonly directory: string;
  readonly log: Log;
}

/** Composed features: options of a server, and a function that starts them. */
export interface ComposedFeatures {
  /** Options for {@link createWorkspaceServer}; `virtualWorkspaces` are those of `root`. */
  readonly options: FeatureServerOptions & Required<Pick<WorkspaceServerOptions, "virtualWorkspaces" | "loopback">>;
  /** Views and controllers of each further shard, see {@link ShardsOptions.virtualWorkspaces}. */
  readonly ofShard: NonNullable<ShardsOptions["virtualWorkspaces"]>;
  /** Views of `root` whose URLs are printed when the server is ready. */
  readonly listed: readonly VirtualWorkspace[];
  /**
   * Starts the features of a phase in `root`, in the order of the list, once the server listens. If one fails, those
   * already started are stopped in reverse order.
   *
   * @returns stops them in reverse order: dispose of it before the server closes
   * @throws FeatureError
   */
  begin(phase: NonNullable<FeatureParts["begins"]>): Promise<AsyncDisposable>;
}

/**
 * Composes the features of a server, in the order of the list.
 *
 * @throws FeatureError with a feature's error; Error on two features with the same name, or that set the same option
 */
export async function composeFeatures(features: readonly NamedFeature[], host: FeatureHost): Promise<ComposedFeatures> {
  const names = features.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`duplicate feature "${twice}": remove one of the two`);
  const { loopback, own, listening } = host;
  const root = shardsFor(host, { name: ROOT_SHARD, loopback, listening, own });
  const [options, views] = await Promise.all([optionsOf(features), viewsOf(features, root)]);
  const virtualWorkspaces = merged(views.map((one) => one.views));
  const listed = new Set(views.flatMap((one) => (one.feature.listed === false ? [] : one.views)));
  return {
    options: { ...options, virtualWorkspaces, loopback },
    listed: virtualWorkspaces.filter((view) => listed.has(view)),
    ofShard: async (name, context) => {
      const shard = shardsFor(host, { ...context, name });
      const ofShard = merged((await viewsOf(features, shard)).map((one) => one.views));
      for (const feature of features)
        await named(feature, async () => context.controllers.use(await runIn(shard(feature), feature)));
      return ofShard;
    },
    begin: async (phase) => {
      await using begun = new AsyncDisposableStack();
      for (const feature of features.filter(({ begins = "before-ready" }) => begins === phase))
        await named(feature, async () => begun.use(await beginIn(root(feature), feature)));
      return begun.move();
    },
  };
}

async function beginIn(shard: FeatureShard, feature: NamedFeature): Promise<AsyncDisposable | undefined> {
  const manifests = (await feature.manifests?.()) ?? [];
  if (manifests.length > 0) {
    await using root = new Client({ upstream: shard.everywhere, cluster: ROOT_CLUSTER });
    await applyManifests(root, manifests);
  }
  return runIn(shard, feature);
}

async function runIn(shard: FeatureShard, feature: NamedFeature): Promise<AsyncDisposable | undefined> {
  const running = await feature.run?.(shard);
  if (running === undefined || typeof running[Symbol.asyncDispose] === "function") return running;
  throw new Error("invalid result of run(): return an AsyncDisposable or undefined");
}

interface ShardPlace {
  readonly name: string;
  readonly loopback: Loopback;
  readonly listening: Promise<Listening>;
  readonly own: AsyncDisposableStack;
}

/** Returns a function that gives each feature its view of a shard. */
function shardsFor(
  host: FeatureHost,
  { name, loopback, listening, own }: ShardPlace,
): (feature: NamedFeature) => FeatureShard {
  const { upstream, identity } = loopback;
  let store: Promise<Store> | undefined;
  const shard = {
    ...{ shard: name, upstream, identity, everywhere: host.loopback.upstream, isRoot: name === ROOT_SHARD },
    ...{ ca: host.ca, log: host.log, workspaces: () => loopback.workspaces },
    shards: () => loopback.shards,
    address: listening.then((place) => host.address(name, place)),
    openStore: () => {
      store ??= host.openStore(name, own);
      return store;
    },
  };
  shard.address.catch(() => undefined); // features that wait for the address get the error
  return (feature) => ({ ...shard, directory: join(host.directory, feature.name) });
}

interface ViewsOfFeature {
  readonly feature: NamedFeature;
  readonly views: readonly VirtualWorkspace[];
}

function viewsOf(
  features: readonly NamedFeature[],
  shard: (feature: NamedFeature) => FeatureShard,
): Promise<readonly ViewsOfFeature[]> {
  return Promise.all(
    features.map(async (feature) => ({
      feature,
      views: (await named(feature, () => feature.views?.(shard(feature)))) ?? [],
    })),
  );
}

/** Combines views in order; a later view replaces one of the same name. */
function merged(views: readonly (readonly VirtualWorkspace[])[]): readonly VirtualWorkspace[] {
  return views.reduce((before, more) => {
    const names = new Set(more.map(({ name }) => name));
    return [...before.filter(({ name }) => !names.has(name)), ...more];
  }, []);
}

async function optionsOf(features: readonly NamedFeature[]): Promise<FeatureServerOptions> {
  const given = await Promise.all(
    features.map(async (feature) => ({ feature, options: await named(feature, () => feature.options?.()) })),
  );
  const by = new Map<string, string>();
  for (const { feature, options = {} } of given)
    for (const option of Object.keys(options)) {
      const other = by.get(option);
      if (other !== undefined)
        throw new Error(
          `features "${other}" and "${feature.name}" both set the option "${option}": remove one of them`,
        );
      by.set(option, feature.name);
    }
  return Object.assign({}, ...given.map(({ options }) => options)) as FeatureServerOptions;
}

async function named<T>({ name }: NamedFeature, work: () => Awaitable<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new FeatureError(name, error);
  }
}
