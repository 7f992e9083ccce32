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
import { type Log, warningLog } from "@virtual-workspaces/framework/server";
import { crdManifest } from "@virtual-workspaces/kcp";
import type { ReachOptions, Rewrite } from "../client/engaged-space.ts";
import type { AccessScope } from "../kinds/names.ts";
import { SECRET, type SecretContent } from "../kinds/secret.ts";
import { Space } from "../kinds/space.ts";
import { SpaceProviderDesc } from "../kinds/space-provider-desc.ts";
import type { SpaceProviderType } from "../provider/provider.ts";
import { importedSecrets } from "./access-secrets.ts";
import { ProviderLister, SpaceLister } from "./listers.ts";
import { Places } from "./places.ts";
import { ProviderReconciler } from "./provider-reconciler.ts";
import { ProviderRuns } from "./provider-runs.ts";
import { SpaceProbes } from "./space-probes.ts";
import { SpaceReconciler } from "./space-reconciler.ts";

/** Returns the manifests that a {@link SpaceManager} needs in its management cluster: the CustomResourceDefinitions of Space and SpaceProviderDesc. */
export function spaceManifests(): KubeObject[] {
  return [crdManifest(Space), crdManifest(SpaceProviderDesc)];
}

/** Options of a {@link SpaceManager}. */
export interface SpaceManagerOptions {
  /**
   * Client of the management cluster: a workspace or any Kubernetes cluster with the manifests of {@link spaceManifests}. It needs read and
   * write access to Spaces, SpaceProviderDescs, Secrets and namespaces. Security: it reads all Secrets.
   */
  readonly client: Client;
  /** Provider types by the value of `spec.ProviderType`. */
  readonly types: Readonly<Record<string, SpaceProviderType>>;
  /**
   * Network of the manager, which selects the Secret by which it connects to an imported Space; the other one if the Space has none for
   * it. @default "external"
   */
  readonly scope?: AccessScope;
  /**
   * Returns the URL to connect to for an imported Space, as for `followSpaces()`; an exception rejects the Space.
   * @default the URL itself
   */
  readonly rewrite?: Rewrite;
  /**
   * Dialer for connections to an imported Space. Security: the manager connects once to each address that users of Spaces choose. Give it
   * the `rewrite` and `dial` of `followSpaces()`, so that it reaches no other addresses.
   * @default that of this machine
   */
  readonly dial?: ReachOptions["dial"];
  /** Interval between lists of providers without `watch`, ms. @default 2000, as in KubeStellar */
  readonly pollEvery?: number;
  /** Time limit of a provider's call, ms. @default 60000 */
  readonly callTimeout?: number;
  /** Longest backoff after a failure, ms. @default 60000 */
  readonly longestWait?: number;
  /** @default the system clock */
  readonly now?: () => Date;
  /** Receives errors, without secrets. @default errors and warnings become process warnings */
  readonly log?: Log;
}

/** Number of workers. They mostly wait for providers, each of which has a limit of its own. */
const WORKERS = 256;
/** Grace period for work in progress at shutdown, ms. The next manager repeats it, whatever its result. */
const GRACE = 2_000;
const FIRST_WAIT = 50;

/**
 * Controller of Spaces: it creates and deletes managed spaces, creates Spaces for discovered ones, and writes their access Secrets. It
 * holds no state of its own, so it can be killed at any time and started elsewhere.
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
  /** Resolves when the caches are synced and the manager starts to work. */
  readonly started: Promise<void>;
  readonly #cluster: string;
  readonly #spaces: SpaceLister;
  readonly #providers: ProviderLister;
  readonly #secrets: Informer<SecretContent>;
  readonly #places: Places;
  readonly #runs: ProviderRuns;
  readonly #spaceController: Controller<Space>;
  readonly #providerController: Controller<SpaceProviderDesc>;

  /** @throws Error on invalid options */
  constructor(options: SpaceManagerOptions) {
    const { client, types, pollEvery = 2_000, callTimeout = 60_000, longestWait = 60_000 } = options;
    for (const [name, value] of Object.entries({ pollEvery, callTimeout, longestWait }))
      if (!(value >= 1 && value < 2 ** 31)) throw new Error(`invalid ${name} of a SpaceManager: use at least 1 ms`);
    const log = options.log ?? warningLog;
    const unread = ({ message: error }: Error): void =>
      log({ level: "warn", message: "cannot watch the management cluster", error });
    const now = options.now ?? (() => new Date());
    this.#cluster = client.clusterName;
    this.#spaces = new SpaceLister(client, unread);
    this.#providers = new ProviderLister(client, unread);
    this.#secrets = new Informer({ resource: client.resource(SECRET), transform: withoutForeign, onError: unread });
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
    this.#places = new Places({ types, providers, secrets });
    const common = { client, spaces, runs: this.#runs, secrets, now };
    const { scope = "external", rewrite = (url) => url, dial = () => undefined } = options;
    const onTurn = (space: Space): void => this.#spaceController.add(this.#keyOf(space));
    const probes = new SpaceProbes({ rewrite, dial, longestWait, onTurn });
    const ofSpace = new SpaceReconciler({ ...common, providers, probes, scope });
    const ofProvider = new ProviderReconciler({ ...common, types, places: this.#places });
    const rateLimit = { base: FIRST_WAIT, max: longestWait, jitter: 0.5, perSecond: 100 };
    const onError = ({ error, key }: ReconcileFailure): void =>
      log({
        level: "warn",
        message: "cannot reconcile a space",
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
        related(this.#providers.informer, (provider) => this.#contendersOf(provider)),
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
    this.#spaces.informer.on({ deleted: (space) => probes.forget(space) });
    for (const informer of [this.#spaces.informer, this.#providers.informer, this.#secrets]) informer.start();
    this.started = Promise.all([this.#spaceController.started, this.#providerController.started]).then(() => undefined);
    this.started.catch(() => undefined);
  }

  /** Stops the work in progress and leaves the physical spaces as they are. */
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

  /** Returns the Spaces to reconcile after a change of a provider: its own, and those without a provider. */
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
    const naming = this.#providers.all.filter(
      ({ spec: { secretRef } }) => secretRef?.name === name && secretRef?.namespace === namespace,
    );
    return naming.flatMap((provider) => [this.#providerKey(provider.metadata.name), ...this.#contendersOf(provider)]);
  }

  #contendersOf(provider: SpaceProviderDesc): readonly ObjectKey[] {
    return this.#places.contenders(provider).map(({ metadata }) => this.#providerKey(metadata.name));
  }
}

/** Security: the cache keeps only Secrets that Spaces use, and not those of service accounts or Helm releases. */
function withoutForeign(secret: ObjectOf<SecretContent>): ObjectOf<SecretContent> {
  delete secret.metadata.managedFields;
  const { type = "Opaque", data: _, ...rest } = secret;
  return type === "Opaque" ? secret : { ...rest, type };
}
