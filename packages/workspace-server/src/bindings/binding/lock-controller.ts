import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import { type Controller, controller, type ReconcileFailure } from "@virtual-workspaces/client";
import {
  LogicalCluster,
  type LogicalCluster as LogicalClusterObject,
  RESOURCE_BINDINGS_ANNOTATION,
} from "@virtual-workspaces/kcp";
import { hasCondition } from "../../crds/definition/conditions.ts";
import type { CrdContent } from "../../crds/definition/definition.ts";
import type { ShardPart } from "../../state/context.ts";
import { modify } from "../../state/modify.ts";
import type { ShardObjects } from "../../state/objects.ts";
import { logicalClusterKey, type ShardState } from "../../state/shard-state.ts";
import type { Tracked } from "../../state/informers/informer.ts";
import { follow } from "../../controllers/follow.ts";
import type { Known } from "../../controllers/known.ts";
import { holdersIn } from "./lock-holders.ts";
import { cleanedLocks, formatLocks } from "./locks.ts";

/** What keeping locks asks. */
export interface LockControllerOptions {
  readonly objects: ShardObjects;
  readonly state: ShardState;
  readonly crds: Tracked<CrdContent>;
  readonly known: Known;
  readonly now: () => Date;
  readonly onError: (failure: ReconcileFailure) => void;
}

/** Keeps the annotation of LogicalClusters right that says who has which resource (kcp's `logicalclustercleanup`). */
export class LockController implements ShardPart {
  readonly started: Promise<void>;
  readonly #options: LockControllerOptions;
  readonly #controller: Controller<LogicalClusterObject>;
  readonly #stack = new DisposableStack();

  constructor(options: LockControllerOptions) {
    const { state, crds, onError } = options;
    this.#options = options;
    this.#controller = controller({
      name: "resource-bindings",
      sources: [{ informer: state.logicalClusters }],
      reconcile: options.known(state.logicalClusters, (key) => this.#reconcile(key)),
      onError,
    });
    this.started = this.#controller.started;
    const changed = (_: unknown, { cluster }: ObjectKey): void => this.#controller.add(logicalClusterKey(cluster));
    this.#stack.use(follow(state.apiBindings, changed, ({ metadata }) => metadata.uid));
    this.#stack.use(follow(crds, changed, ({ status }) => hasCondition(status, "Established")));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stack.dispose();
    await this.#controller.stop();
  }

  async #reconcile(key: ObjectKey): Promise<void> {
    const { objects } = this.#options;
    const seen = this.#options.state.logicalClusters.store.get(key);
    if (seen === undefined) return;
    const { annotations: known } = seen.metadata;
    if (known?.[RESOURCE_BINDINGS_ANNOTATION] === this.#text(key, known)) return;
    await modify(objects.of(LogicalCluster), key, (current) => {
      const { annotations } = current.metadata;
      current.metadata.annotations = { ...annotations, [RESOURCE_BINDINGS_ANNOTATION]: this.#text(key, annotations) };
      return current;
    });
  }

  #text({ cluster }: ObjectKey, annotations: Readonly<Record<string, string>> = {}): string {
    const holders = holdersIn(cluster, this.#options);
    return formatLocks(cleanedLocks(annotations[RESOURCE_BINDINGS_ANNOTATION], holders, this.#options.now()));
  }
}
