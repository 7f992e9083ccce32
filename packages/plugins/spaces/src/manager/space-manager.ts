import type { KubeObject, ObjectKey, ObjectOf } from "@virtual-workspaces/apimachinery";
import {
  type Client,
  type Controller,
  controller,
  Informer,
  ownerKeys,
  type ReconcileFailure,
  related,
} from "@virtual-workspaces/client";
import type { Log } from "@virtual-workspaces/framework/server";
import { crdManifest } from "@virtual-workspaces/kcp";
import { SECRET, type SecretContent } from "../kinds/secret.ts";
import { Space } from "../kinds/space.ts";
import { SpaceProviderDesc } from "../kinds/space-provider-desc.ts";
import type { SpaceProviderType } from "../provider/provider.ts";
import { importedSecrets } from "./access-secrets.ts";
import { ProviderLister, SpaceLister } from "./listers.ts";
import { ProviderReconciler } from "./provider-reconciler.ts";
import { ProviderRuns } from "./provider-runs.ts";
import { SpaceReconciler } from "./space-reconciler.ts";

/** What has to be in a management cluster before a {@link SpaceManager} works there: the CustomResourceDefinitions of Space and SpaceProviderDesc. */
export function spaceManifests(): KubeObject[] {
  return [crdManifest(Space), crdManifest(SpaceProviderDesc)];
}

/** What a {@link SpaceManager} is told. */
export interface SpaceManagerOptions {
  /**
   * The management cluster: a workspace, or any Kubernetes, that has the kinds of {@link spaceManifests}. It has to read and write Spaces, SpaceProviderDescs,
   * Secrets and namespaces there, and reads all Secrets.
   */
  readonly client: Client;
  /** The types of providers that SpaceProviderDescs may name, by `spec.ProviderType`. */
  readonly types: Readonly<Record<string, SpaceProviderType>>;
  /** How often providers are asked that do not say what changes, ms. @default 2000, as KubeStellar's */
  readonly pollEvery?: number;
  /** How long a provider may take to answer, ms. @default 60000 */
  readonly callTimeout?: number;
  /** The longest wait before what has failed is tried again, ms. @default 60000 */
  readonly longestWait?: number;
  /** @default the machine's clock */
  readonly now?: () => Date;
  /** Told what goes wrong, without anything secret. @default nobody */
  readonly log?: Log;
}

/** Work that waits for providers does nothing else: each has its own limit besides. */
const WORKERS = 256;
/** How long what is under way may go on when the manager ends, ms: whoever comes after does it again, whatever has come of it. */
const GRACE = 2_000;
const FIRST_WAIT = 50;

/**
 * Keeps Spaces and what is behind them in step: makes and deletes what is managed, makes Spaces of what it finds, and writes the Secrets by which they
 * are reached. It holds nothing that it cannot find out again, so it may be killed at any time, and started again elsewhere.
 *
 * @example
 * ```ts
 * import { Client } from "@virtual-workspaces/client";
 * import { kubeconfigsProvider, SpaceManager, workspacesProvider } from "@virtual-workspaces/spaces";
 *
 * await using client = await Client.fromKubeconfig();
 * const types = { kcp: workspacesProvider(), list: kubeconfigsProvider() };
 * await using manager = new SpaceManager({ client, types });
 * await manager.started;
 * ```
 * @see docs/how-to/spaces.md
 */
export class SpaceManager implements AsyncDisposable {
  /** Resolves when it has read what there is, and begins to work. */
  readonly started: Promise<void>;
  readonly #cluster: string;
  readonly #spaces: SpaceLister;
  readonly #providers: ProviderLister;
  readonly #secrets: Informer<SecretContent>;
  readonly #runs: ProviderRuns;
  readonly #spaceController: Controller<Space>;
  readonly #providerController: Controller<SpaceProviderDesc>;

  /** @throws Error on options that cannot be used */
  constructor(options: SpaceManagerOptions) {
    const { client, types, pollEvery = 2_000, callTimeout = 60_000, longestWait = 60_000 } = options;
    for (const [name, value] of Object.entries({ pollEvery, callTimeout, longestWait }))
      if (!(value >= 1 && value < 2 ** 31)) throw new Error(`${name} of a SpaceManager: give milliseconds, 1 at least`);
    const log: Log = options.log ?? (() => undefined);
    const now = options.now ?? (() => new Date());
    this.#cluster = client.clusterName;
    this.#spaces = new SpaceLister(client);
    this.#providers = new ProviderLister(client);
    this.#secrets = new Informer({ resource: client.resource(SECRET), transform: withoutForeign });
    const [spaces, providers, secrets] = [this.#spaces, this.#providers, this.#secrets.store];
    this.#runs = new ProviderRuns({
      types,
      pollEvery,
      callTimeout,
      log,
      onChange: (provider, parent, name) => {
        const behind = spaces.of({ provider, parent, name });
        for (const space of behind) this.#spaceController.add(this.#keyOf(space));
        this.#providerController.add(this.#providerKey(provider));
      },
      onState: (provider) => {
        for (const space of spaces.ofProvider(provider)) this.#spaceController.add(this.#keyOf(space));
        this.#providerController.add(this.#providerKey(provider));
      },
    });
    const common = { client, spaces, runs: this.#runs, secrets, now };
    const ofSpace = new SpaceReconciler({ ...common, providers });
    const ofProvider = new ProviderReconciler({ ...common, types });
    const rateLimit = { base: FIRST_WAIT, max: longestWait, jitter: 0.5, perSecond: 100 };
    const onError = ({ error, key }: ReconcileFailure): void =>
      log({
        level: "warn",
        message: "a space cannot be kept in step",
        ...(key && { name: key.name }),
        error: String(error),
      });
    this.#spaceController = controller<Space>({
      name: "spaces",
      sources: [
        { informer: this.#spaces.informer },
        related(this.#providers.informer, ({ metadata }) => this.#spacesOf(metadata.name ?? "")),
        related(this.#secrets, ownerKeys(Space)),
        related(this.#secrets, (secret) => this.#importersOf(secret)),
      ],
      reconcile: (_, { object, signal }) => (object === undefined ? undefined : ofSpace.reconcile(object, signal)),
      workers: WORKERS,
      grace: GRACE,
      rateLimit,
      onError,
    });
    this.#providerController = controller<SpaceProviderDesc>({
      name: "space-providers",
      sources: [
        { informer: this.#providers.informer },
        related(this.#spaces.informer, ({ spec: { SpaceProviderDescName: name } }) =>
          name === undefined ? [] : [this.#providerKey(name)],
        ),
        related(this.#secrets, (secret) => this.#providersOf(secret)),
      ],
      reconcile: ({ name }, { object, signal }) => ofProvider.reconcile(name, object, signal),
      workers: WORKERS,
      grace: GRACE,
      rateLimit,
      onError,
    });
    for (const informer of [this.#spaces.informer, this.#providers.informer, this.#secrets]) {
      informer.on({
        lifecycle: (event) => {
          if (event.type === "error")
            log({ level: "warn", message: "the management cluster cannot be followed", error: String(event.error) });
        },
      });
      informer.start();
    }
    this.started = Promise.all([this.#spaceController.started, this.#providerController.started]).then(() => undefined);
    this.started.catch(() => undefined);
  }

  /** Ends what is under way; nothing of what is behind Spaces is touched. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#spaceController.stop(), this.#providerController.stop()]);
    await this.#runs[Symbol.asyncDispose]();
    await Promise.all([this.#spaces, this.#providers, this.#secrets].map((one) => one[Symbol.asyncDispose]()));
  }

  #keyOf = ({ metadata: { name = "", namespace = "" } }: Space): ObjectKey => {
    return { cluster: this.#cluster, namespace, name };
  };

  #providerKey(name = ""): ObjectKey {
    return { cluster: this.#cluster, namespace: "", name };
  }

  /** Spaces that a provider concerns: its own, and those that nobody provides yet. */
  #spacesOf(provider: string): readonly ObjectKey[] {
    const all = this.#spaces.informer.store.list();
    return all
      .filter(({ spec: { SpaceProviderDescName: name } }) => name === undefined || name === provider)
      .map(this.#keyOf);
  }

  #importersOf({ metadata: { name = "", namespace = "" } }: ObjectOf<SecretContent>): readonly ObjectKey[] {
    const naming = this.#spaces
      .imported(namespace)
      .filter((space) => importedSecrets(space).some((one) => one.name === name));
    return naming.map(this.#keyOf);
  }

  #providersOf({ metadata: { name, namespace } }: ObjectOf<SecretContent>): readonly ObjectKey[] {
    const all = this.#providers.informer.store.list();
    const naming = all.filter(
      ({ spec: { secretRef } }) => secretRef?.name === name && secretRef?.namespace === namespace,
    );
    return naming.map(({ metadata }) => this.#providerKey(metadata.name));
  }
}

/** What no Space has to do with is not kept: tokens of service accounts, releases of Helm. */
function withoutForeign(secret: ObjectOf<SecretContent>): ObjectOf<SecretContent> {
  delete secret.metadata.managedFields;
  const { type = "Opaque", data: _, ...rest } = secret;
  return type === "Opaque" ? secret : { ...rest, type };
}
