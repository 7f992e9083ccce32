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
  TypedDefinition,
  Written,
} from "@virtual-workspaces/framework";
import type { Transform } from "../options.ts";
import { deleteBody, patchQuery, writeQuery } from "./query.ts";
import { Sender, type SenderOptions, type Sent } from "./sender.ts";
import { transformedWrites } from "./transformed-writes.ts";
import { written } from "./written.ts";

/** Where writes go, and as whom; `forward` says it. */
export interface ForwardedWritesOptions<T extends object> extends SenderOptions {
  readonly resource: TypedDefinition<T>;
  readonly transform?: Transform<T> | undefined;
}

/** The methods of a storage that write. */
export type ForwardedWrites<T extends object> = Pick<
  Storage<ObjectOf<T>>,
  "create" | "update" | "pass" | "patch" | "delete" | "deleteCollection" | "applies"
> & { readonly lifecycle: "storage" };

const APPLY = "application/apply-patch+yaml";

/**
 * Writes that another server does: it checks them, keeps them and says what came of it. What clients send is passed on as
 * bytes, an apply as an apply; what it answers comes back as bytes, with its warnings, errors and codes. Each is sent once.
 */
export function forwardedWrites<T extends object>(options: ForwardedWritesOptions<T>): ForwardedWrites<T> {
  const sender = new Sender(options);
  const { transform } = options;
  const remove = (scope: Scope, key: ObjectKey, asked: DeleteOptions): Promise<Encoded | Status> =>
    deleted(sender, { scope, key, asked });
  if (transform !== undefined) return transformedWrites({ sender, transform, resource: options.resource, remove });
  return {
    lifecycle: "storage",
    pass: (scope, write) => passed(sender, scope, write),
    create: (scope, object, asked) => written(sender, { verb: "create", scope, object, options: asked }),
    update: (scope, object, asked) => written(sender, { verb: "update", scope, object, options: asked }),
    patch: (scope, key, patch) => patched(sender, { scope, key, patch }),
    delete: remove,
    deleteCollection: (scope, asked) => deletedCollection(sender, scope, asked),
  };
}

async function passed(sender: Sender, scope: Scope, write: SentWrite): Promise<Written<never>> {
  const { verb, key, contentType, body, subresource } = write;
  const method = verb === "create" ? "POST" : "PUT";
  const sent = { contentType, body, subresource, name: key.name, query: writeQuery(write) };
  return answered(await sender.send({ method, scope, options: write, ...sent }));
}

async function patched(
  sender: Sender,
  { scope, key, patch }: { readonly scope: Scope; readonly key: ObjectKey; readonly patch: PatchOptions },
): Promise<Written<never>> {
  const { contentType, subresource, patch: body } = patch;
  const query = patchQuery(patch, contentType === APPLY);
  const at = { scope: { ...scope, namespace: key.namespace }, name: key.name, subresource };
  return answered(await sender.send({ method: "PATCH", ...at, options: patch, contentType, body, query }));
}

function answered({ status, object }: Sent): Written<never> {
  return { object, ...(status === 201 && { created: true }) };
}

async function deleted(
  sender: Sender,
  { scope, key, asked }: { readonly scope: Scope; readonly key: ObjectKey; readonly asked: DeleteOptions },
): Promise<Encoded | Status> {
  const at = { scope: { ...scope, namespace: key.namespace }, name: key.name };
  const { gone, object } = await sender.send({ method: "DELETE", ...at, options: asked, ...deleteBody(asked) });
  return gone ?? object;
}

async function deletedCollection(
  sender: Sender,
  scope: Scope,
  asked: DeleteCollectionOptions,
): Promise<EncodedList | Status> {
  const { limit, continue: token, resourceVersion, resourceVersionMatch } = asked;
  const query = {
    labelSelector: String(scope.labels) || undefined,
    fieldSelector: String(scope.fields) || undefined,
    ...{ limit, continue: token, resourceVersion, resourceVersionMatch },
  };
  const sending = { method: "DELETE", scope, name: "", options: asked, query, ...deleteBody(asked) } as const;
  const { gone, body } = await sender.send(sending);
  return gone ?? { body };
}
