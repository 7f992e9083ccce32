import { apiVersionOf, type KubeObject } from "@virtual-workspaces/apimachinery";
import { FieldManager } from "@virtual-workspaces/apimachinery/apply";
import { cloneJson } from "@virtual-workspaces/apimachinery/json";
import type { AuthorizedExchange } from "../exchange.ts";
import { normalizeScale, SCALE } from "../resource/scale/scale-kind.ts";
import type { Scaling } from "../resource/scale/scaling.ts";
import type { ServedResource } from "../resource/served.ts";
import { parsed } from "../watch/cache/encoded.ts";
import { checkKind, checkPlace } from "../write/identity.ts";
import { PATCH_MEDIA_TYPES, patchTypeOf } from "../write/patch-types.ts";
import { checkUid } from "../write/update.ts";
import type { Change, Draft, WriteRequest } from "../write/write-request.ts";
import { reporter, sentObject, sentPatch } from "./body.ts";
import { answerObject, readObject, wantedObject } from "./get.ts";
import { applying, patching } from "./patching.ts";
import { keyOf } from "./scope.ts";
import { writeQuery, writeRequest } from "./write-request.ts";
import { handPatch, passes, passWrite } from "./writes.ts";

/** Manages the owners of a Scale's fields. */
const OWNERS = new FieldManager({ apiVersion: apiVersionOf(SCALE), kind: SCALE.kind, schema: SCALE.schema });

/** Answers a GET of an object's Scale. */
export function serveScaleGet(
  exchange: AuthorizedExchange,
  resource: ServedResource,
  scaling: Scaling,
): void | Promise<void> {
  return readObject(exchange, resource, (_exchange, _resource, found) => {
    const object = scaling.show(parsed(found));
    answerObject(exchange, { definition: SCALE }, { object, code: 200, wanted: wantedObject(exchange) });
  });
}

/** Answers an UPDATE of an object's Scale. Without a resource version it changes the current object. */
export async function serveScaleUpdate(
  exchange: AuthorizedExchange,
  resource: ServedResource,
  scaling: Scaling,
): Promise<void> {
  if (passes(resource)) return passWrite(exchange, resource, "update");
  const query = writeQuery(exchange, resource, { kind: "UpdateOptions" });
  const wanted = wantedObject(exchange);
  const { object, findings } = await sentObject(exchange, SCALE, { check: checkKind, normalize: normalizeScale });
  checkPlace(object, keyOf(exchange));
  const request = writeRequest(exchange, resource, query);
  reporter(findings, SCALE, request.options)([]);
  const change = scaled({ resource, scaling, request }, () => ({ object: cloneJson(object), by: "replacing" }));
  const written = await resource.writer.update(keyOf(exchange), change, request);
  const shown = scaling.showWritten(parsed(written.object));
  answerObject(exchange, { definition: SCALE }, { object: shown, code: 200, wanted });
}

/** Answers a PATCH of an object's Scale. */
export async function serveScalePatch(
  exchange: AuthorizedExchange,
  resource: ServedResource,
  scaling: Scaling,
): Promise<void> {
  const type = patchTypeOf(exchange.req.headers["content-type"], SCALE);
  const query = writeQuery(exchange, resource, { kind: "PatchOptions", apply: type === "apply" });
  const wanted = wantedObject(exchange);
  const body = await sentPatch(exchange);
  exchange.audited?.sentPatch(body);
  const request = writeRequest(exchange, resource, query);
  const key = keyOf(exchange);
  if (passes(resource)) {
    const contentType = PATCH_MEDIA_TYPES[type];
    const { object } = await handPatch(resource.storage, {
      request,
      key,
      contentType,
      patch: body,
      force: query.force,
    });
    answerObject(exchange, { definition: SCALE }, { object, code: 200, wanted });
    return;
  }
  const patch = { type, body, yaml: exchange.core.yaml, key, definition: SCALE, read: readScale };
  const making =
    type === "apply" ? await applying(patch, { ...request, force: query.force }, OWNERS) : patching(patch, request);
  const { change, ...rest } = making;
  const written = await resource.writer.update(key, scaled({ resource, scaling, request }, change), {
    ...request,
    ...rest,
  });
  const shown = scaling.showWritten(parsed(written.object));
  answerObject(exchange, { definition: SCALE }, { object: shown, code: 200, wanted });
}

interface ScaleWrite {
  readonly resource: ServedResource;
  readonly scaling: Scaling;
  readonly request: WriteRequest;
}

/** Turns a change of an object's Scale into a change of the object. */
function scaled({ resource, scaling, request }: ScaleWrite, make: Change): Change {
  return async (copy): Promise<Draft> => {
    const object = copy() as KubeObject; // exists, since a Scale cannot create it
    const before = scaling.draft(object);
    const { object: scale, by } = await make(() => cloneJson(before));
    if (by === "replacing") checkUid(scale, object, resource.definition);
    const { fieldManager: manager } = request.options;
    const owned =
      by === "applying"
        ? scale
        : OWNERS.update({ live: before, next: scale, manager, subresource: "scale", now: new Date() });
    return { object: scaling.take(object, owned), by: "applying" };
  };
}

function readScale(object: KubeObject): string[] {
  checkKind(object, SCALE);
  return normalizeScale(object);
}
