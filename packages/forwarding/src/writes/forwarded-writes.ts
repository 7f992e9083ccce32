import type { ObjectKey, ObjectOf, Status } from "@virtual-workspaces/apimachinery";
import type {
  DeleteCollectionOptions,
  DeleteOptions,
  Encoded,
  EncodedList,
  PatchOptions,
  Scope,
  SentWrite,
  Storage,
  Written,
} from "@virtual-workspaces/framework";
import type { Transform } from "../options.ts";
import type { UpstreamResource } from "../outbound/upstream-resource.ts";
import { APPLY, deleteBody, patchQuery, writeQuery } from "./query.ts";
import { selectedWrites } from "./selected-writes.ts";
import { type Sent, sendWrite } from "./send-write.ts";
import { transformedWrites } from "./transformed-writes.ts";
import { written } from "./written.ts";

/** The methods of a storage that write. */
export type ForwardedWrites<T extends object> = Pick<
  Storage<ObjectOf<T>>,
  "create" | "update" | "pass" | "patch" | "delete" | "deleteCollection" | "applies"
> & { readonly lifecycle: "storage" };

/**
 * Writes that another server does: it checks them, keeps them and says what came of it. What clients send is passed on as
 * bytes, an apply as an apply; what it answers comes back as bytes, with its warnings, errors and codes. Each is sent once.
 */
export function forwardedWrites<T extends object>(
  there: UpstreamResource,
  transform: Transform<T> | undefined,
): ForwardedWrites<T> {
  const remove = (scope: Scope, key: ObjectKey, asked: DeleteOptions): Promise<Encoded | Status> =>
    deleted(there, { scope, key, asked });
  if (transform !== undefined) return transformedWrites({ there, transform, remove });
  const writes = {
    lifecycle: "storage",
    pass: (scope, write) => passed(there, scope, write),
    create: (scope, object, asked) => written(there, { verb: "create", scope, object, options: asked }),
    update: (scope, object, asked) => written(there, { verb: "update", scope, object, options: asked }),
    patch: (scope, key, patch) => patched(there, { scope, key, patch }),
    delete: remove,
    deleteCollection: (scope, asked) => deletedCollection(there, scope, asked),
  } satisfies ForwardedWrites<T>;
  return there.labels === undefined ? writes : selectedWrites(there, writes);
}

async function passed(there: UpstreamResource, scope: Scope, write: SentWrite): Promise<Written<never>> {
  const { verb, key, contentType, body, subresource } = write;
  const method = verb === "create" ? "POST" : "PUT";
  const sent = { contentType, body, subresource, name: key.name, query: writeQuery(write) };
  return answered(await sendWrite(there, { method, scope, options: write, ...sent }));
}

async function patched(
  there: UpstreamResource,
  { scope, key, patch }: { readonly scope: Scope; readonly key: ObjectKey; readonly patch: PatchOptions },
): Promise<Written<never>> {
  const { contentType, subresource, patch: body } = patch;
  const query = patchQuery(patch, contentType === APPLY);
  const at = { scope: { ...scope, namespace: key.namespace }, name: key.name, subresource };
  return answered(await sendWrite(there, { method: "PATCH", ...at, options: patch, contentType, body, query }));
}

function answered({ status, object }: Sent): Written<never> {
  return { object, ...(status === 201 && { created: true }) };
}

async function deleted(
  there: UpstreamResource,
  { scope, key, asked }: { readonly scope: Scope; readonly key: ObjectKey; readonly asked: DeleteOptions },
): Promise<Encoded | Status> {
  const at = { scope: { ...scope, namespace: key.namespace }, name: key.name };
  const { gone, object } = await sendWrite(there, { method: "DELETE", ...at, options: asked, ...deleteBody(asked) });
  return gone ?? object;
}

async function deletedCollection(
  there: UpstreamResource,
  scope: Scope,
  asked: DeleteCollectionOptions,
): Promise<EncodedList | Status> {
  const { limit, continue: token, resourceVersion, resourceVersionMatch } = asked;
  const query = {
    ...there.selectorsOf(scope),
    ...{ limit, continue: token, resourceVersion, resourceVersionMatch },
  };
  const sending = { method: "DELETE", scope, name: "", options: asked, query, ...deleteBody(asked) } as const;
  const { gone, body } = await sendWrite(there, sending);
  return gone ?? { body };
}
