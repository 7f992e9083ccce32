import type { Admit, Authenticator, Log, ServedResource } from "@virtual-workspaces/framework";
import { ROOT_SHARD } from "@virtual-workspaces/kcp";
import type { Store } from "@virtual-workspaces/store";
import { type ShardAuthorizer, shardAuthorizer } from "../authz/authorizer.ts";
import { roleEscalation } from "../authz/escalation/role-escalation.ts";
import { bootstrap, register } from "../bootstrap/bootstrap.ts";
import { CrdController } from "../crds/controller/controller.ts";
import { CustomResourceDefinition } from "../kinds/apiextensions/custom-resource-definition.ts";
import type { TokenSubresourceOptions } from "../service-accounts/token-request.ts";
import { admitInOrder } from "./admission.ts";
import { authorizerState } from "./authorizer-state.ts";
import { baseKinds } from "./base-kinds.ts";
import type { ShardContext, ShardUrls } from "./context.ts";
import { inGroupOrder } from "./group-order.ts";
import type { Installation } from "./installation.ts";
import { kcpKinds } from "./kcp-kinds.ts";
import { namespaceLifecycle } from "./namespace-lifecycle.ts";
import { ShardObjects } from "./objects.ts";
import { parts } from "./parts.ts";
import { reviewKinds } from "./review-kinds.ts";
import { ShardState } from "./state.ts";
import { takenNames } from "./taken-names.ts";

/** What a shard is made of. */
export interface ShardOptions {
  /** `root` for the one that holds the root of the tree. */
  readonly name: string;
  /** How it is reached: asked once it has started, when it is known where it listens. */
  readonly urls: () => ShardUrls;
  /** Its own: versions of one shard are one line. */
  readonly store: Store;
  /** The shards that it runs with. */
  readonly installation: Installation;
  /** Asked by TokenReviews; whoever serves the shard asks them as well. */
  readonly authenticators: readonly Authenticator[];
  readonly token: TokenSubresourceOptions;
  /** What tokens are for that say nothing else. */
  readonly audiences: readonly string[];
  readonly log: Log;
}

/** One shard: objects in a store, the controllers that keep them right, and what is served of them in each logical cluster. */
export class Shard implements AsyncDisposable {
  readonly context: ShardContext;
  readonly authorizer: ShardAuthorizer;
  readonly #crds: CrdController;
  readonly #base: readonly ServedResource[];
  /** Lists of equal logical clusters are one. */
  readonly #lists = new WeakMap<readonly ServedResource[], readonly ServedResource[]>();
  readonly #stack = new AsyncDisposableStack();
  readonly #ready = Promise.withResolvers<void>();

  constructor(options: ShardOptions) {
    const { name, urls, store, installation, log } = options;
    const objects = this.#stack.use(new ShardObjects(store, (error) => this.#failed("objects", error)));
    const state = new ShardState(objects);
    this.context = {
      name,
      get urls() {
        return urls();
      },
      objects,
      state,
      installation,
      log,
    };
    const known = authorizerState(this.context, () => undefined);
    this.authorizer = shardAuthorizer({ state: known });
    const admit = namespaceLifecycle({ objects, state });
    const roles = roleEscalation({ state: known, authorizer: this.authorizer });
    const common = admitInOrder(admit, roles);
    this.#crds = this.#stack.use(
      new CrdController({
        crds: objects.of(CustomResourceDefinition) as never,
        store,
        admit,
        taken: (_, group) => takenNames(this.#base, group),
        onError: (error, crd) => this.#failed(`custom resource definition ${crd}`, error),
      }),
    );
    this.#base = [
      ...inGroupOrder([
        ...baseKinds({ objects, admit: common, token: options.token }),
        ...reviewKinds({ ...options, authorizer: this.authorizer }),
      ]),
      this.#crds.serve(),
      ...kcpKinds(objects, { admit: common, own: new Map<string, Admit>() }),
    ];
  }

  /**
   * Makes what is to be there from the start, reads what the shard is run by, and sets its controllers to work.
   *
   * @throws ApiError 503 when the store cannot be read or written
   */
  async start(): Promise<void> {
    await bootstrap(this.context);
    await this.context.objects.start();
    this.#stack.use(this.context.installation.join(this.context));
    await this.#crds.start();
    for (const part of parts(this.context)) this.#stack.use(part);
    await register(this.context.installation.shard(ROOT_SHARD) ?? this.context, this.context);
    this.#ready.resolve();
  }

  /** What is served in a logical cluster, whether or not there is one; the same list for all that are equal. */
  servedIn(cluster: string): readonly ServedResource[] {
    const own = this.#crds.servedIn(cluster);
    let list = this.#lists.get(own);
    if (list === undefined) {
      list = [...this.#base, ...own];
      this.#lists.set(own, list);
    }
    return list;
  }

  /** Resolves when it has started. */
  get started(): Promise<void> {
    return this.#ready.promise;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }

  #failed(part: string, error: unknown): void {
    this.context.log({
      level: "error",
      message: "part of a shard failed",
      shard: this.context.name,
      part,
      error: String(error),
    });
  }
}
