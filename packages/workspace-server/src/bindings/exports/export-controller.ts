import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import { apiVersionOf } from "@virtual-workspaces/apimachinery";
import { type Controller, controller, type ReconcileFailure } from "@virtual-workspaces/client";
import {
  APIExport,
  APIExportEndpointSlice,
  type APIExport as APIExportObject,
  APIExportV1alpha1,
  clusterOf,
} from "@virtual-workspaces/kcp";
import { deleteCondition, markFalse, markTrue } from "@virtual-workspaces/kcp/conditions";
import { PATH_ANNOTATION, SKIP_ENDPOINT_SLICE_ANNOTATION } from "@virtual-workspaces/kcp/names";
import { follow } from "../../controllers/sources.ts";
import type { ShardController } from "../../state/context.ts";
import type { Informer } from "../../state/informers/informer.ts";
import { ensure, modify, read } from "../../state/modify.ts";
import type { ShardObjects } from "../../state/objects.ts";
import type { ShardPeer } from "../../state/shard-peer.ts";
import type { ShardState } from "../../state/shard-state.ts";
import { exportURL, publishedShards } from "./exports.ts";
import type { Identities, SecretContent } from "./identity.ts";

/** Options of {@link ExportController}. */
export interface ExportControllerOptions {
  readonly objects: ShardObjects;
  readonly state: ShardState;
  readonly secrets: Informer<SecretContent>;
  readonly identities: Identities;
  readonly shards: () => readonly ShardPeer[];
  /** Whether to write `status.virtualWorkspaces`. */
  readonly virtualWorkspaceURLs: boolean;
  readonly now: () => Date;
  readonly onError: (failure: ReconcileFailure) => void;
}

type Status = NonNullable<APIExportObject["status"]>;

const IDENTITY_VALID = "IdentityValid";
const URLS_READY = "VirtualWorkspaceURLsReady";

/** Creates the identity, the URLs and an endpoint slice of exports (kcp's `kcp-apiexport`). */
export class ExportController implements ShardController {
  readonly started: Promise<void>;
  readonly #options: ExportControllerOptions;
  readonly #controller: Controller<APIExportObject>;
  readonly #stack = new DisposableStack();

  constructor(options: ExportControllerOptions) {
    const { state, secrets, onError } = options;
    this.#options = options;
    this.#controller = controller<APIExportObject>({
      name: "apiexport",
      sources: [{ informer: state.apiExports }],
      reconcile: (key, { object }) => (object === undefined ? undefined : this.#reconcile(key)),
      onError,
    });
    this.started = this.#controller.started;
    this.#stack.use(
      follow(secrets, (_, { cluster, namespace, name }) => {
        for (const key of state.apiExports.store.keysBy("secret", `${cluster}/${namespace}/${name}`))
          this.#controller.add(key);
      }),
    );
    this.#stack.use(
      follow(
        state.apiExportEndpointSlices,
        (_, { cluster, name }) => this.#controller.add({ cluster, namespace: "", name }),
        ({ metadata }) => metadata.uid,
      ),
    );
  }

  /** Updates the URLs after a shard was added, removed or changed its URL. */
  shardsChanged(): void {
    for (const found of this.#options.state.apiExports.store.list())
      this.#controller.add({ cluster: clusterOf(found), namespace: "", name: found.metadata.name ?? "" });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stack.dispose();
    await this.#controller.stop();
  }

  async #reconcile(key: ObjectKey): Promise<void> {
    const { objects, identities } = this.#options;
    const exports = objects.of(APIExport);
    const found = await read(exports, key);
    if (found === undefined || found.metadata.deletionTimestamp !== undefined) return;
    let secretRef = found.spec?.identity?.secretRef;
    let failed: unknown;
    const status: Status = { ...found.status };
    try {
      secretRef ??= await identities.secretFor(key);
      this.#judge(status, await identities.hashOf(secretRef, key.cluster));
    } catch (error) {
      failed = error;
      const why = `Error creating identity secret: ${error instanceof Error ? error.message : String(error)}`;
      this.#invalid(status, "IdentityGenerationFailed", why);
    }
    this.#locate(status, key);
    await modify(exports, key, (current) => {
      if (current.metadata.resourceVersion !== found.metadata.resourceVersion) return undefined;
      const spec = secretRef === undefined ? current.spec : { ...current.spec, identity: { secretRef } };
      return { ...current, ...(spec && { spec }), status };
    });
    await this.#ensureSlice(found, key);
    if (failed !== undefined) throw failed;
  }

  #judge(status: Status, hash: string | { readonly reason: string; readonly message: string }): void {
    const { now } = this.#options;
    if (typeof hash !== "string") {
      this.#invalid(status, hash.reason, hash.message);
      return;
    }
    status.identityHash ??= hash;
    if (status.identityHash === hash) {
      status.conditions = markTrue(status.conditions, IDENTITY_VALID, now());
      return;
    }
    const why = `hash mismatch: identity secret hash "${hash}" must match status.identityHash "${status.identityHash}"`;
    this.#invalid(status, "IdentityVerificationFailed", why);
  }

  #invalid(status: Status, reason: string, message: string): void {
    const condition = { type: IDENTITY_VALID, severity: "Error", reason, message } as const;
    status.conditions = markFalse(status.conditions, condition, this.#options.now());
  }

  #locate(status: Status, key: ObjectKey): void {
    if (!this.#options.virtualWorkspaceURLs) {
      delete status.virtualWorkspaces;
      if (status.conditions !== undefined) status.conditions = deleteCondition(status.conditions, URLS_READY);
      return;
    }
    const urls = publishedShards(this.#options.shards())
      .filter(({ virtualWorkspaceURL }) => virtualWorkspaceURL !== "")
      .map(({ virtualWorkspaceURL }) => exportURL(virtualWorkspaceURL, key));
    status.virtualWorkspaces = [...new Set(urls)].sort().map((url) => ({ url }));
    status.conditions = markTrue(status.conditions, URLS_READY, this.#options.now());
  }

  async #ensureSlice(found: APIExportObject, key: ObjectKey): Promise<void> {
    const { name = "", uid = "", annotations = {} } = found.metadata;
    if (annotations[SKIP_ENDPOINT_SLICE_ANNOTATION] !== undefined) return;
    const path = annotations[PATH_ANNOTATION];
    await ensure(this.#options.objects.of(APIExportEndpointSlice), key, () => ({
      metadata: {
        ...(path !== undefined && { annotations: { [PATH_ANNOTATION]: path } }),
        ownerReferences: [{ apiVersion: apiVersionOf(APIExportV1alpha1), kind: APIExport.kind, name, uid }],
      },
      spec: { export: { ...(path !== undefined && { path }), name } },
    }));
  }
}
