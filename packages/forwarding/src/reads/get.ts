import { apiVersionOf, isApiError, type ObjectKey } from "@virtual-workspaces/apimachinery";
import { upstreamFault } from "@virtual-workspaces/framework/proxy";
import { type Encoded, EncodedBytes, type GetOptions, type Scope } from "@virtual-workspaces/framework/storage";
import type { WholeResponse } from "@virtual-workspaces/transport";
import { answeredError, beginsWithKind, checkJson, objectOf, passWarnings } from "../upstream/answer.ts";
import { isName } from "../upstream/path.ts";
import type { UpstreamResource } from "../upstream/upstream-resource.ts";

/** Maximum object size, in bytes. */
const LARGEST = 16 * 1024 * 1024;

/** Requested object, and the caller. */
interface ObjectTarget {
  readonly scope: Scope;
  readonly key: ObjectKey;
}

/**
 * Requests an object and forwards its bytes without decoding, except for labels that restrict visibility.
 *
 * @throws ApiError of the upstream; 503 without a response
 */
export async function getObject(
  resource: UpstreamResource,
  at: ObjectTarget,
  options: GetOptions,
): Promise<Encoded | undefined> {
  const object = await readObject(resource, at, options);
  return object !== undefined && resource.labels?.matches(object.labels) !== false ? object : undefined;
}

/** Requests an object with any labels. @throws as {@link getObject} */
export async function readObject(
  resource: UpstreamResource,
  at: ObjectTarget,
  options: GetOptions,
): Promise<Encoded | undefined> {
  const { resourceVersion, warn, cancellation } = options;
  const ends = cancellation === undefined ? { signal: options.signal } : { cancellation };
  const { scope, key } = at;
  if (!isName(key.name)) return undefined;
  const place = scope.namespace === key.namespace ? scope : { ...scope, namespace: key.namespace };
  const query = resourceVersion === undefined ? undefined : { resourceVersion };
  const answer = await resource.send({ scope: place, name: key.name, ...ends, limit: LARGEST, query });
  passWarnings(answer.headers, warn);
  return found(resource, at, answer);
}

function found(resource: UpstreamResource, { scope, key }: ObjectTarget, answer: WholeResponse): Encoded | undefined {
  const { origin, definition } = resource;
  if (answer.status !== 200) {
    const error = answeredError(answer, resource);
    if (isApiError(error) && error.reason === "NotFound" && error.status.details?.name === key.name) return undefined;
    throw error;
  }
  checkJson(answer.headers, resource);
  const object = objectOf(answer.body, { definition, scope }, answer.object);
  if (beginsWithKind(object.bytes, { kind: definition.kind, apiVersion: apiVersionOf(definition) })) return object;
  try {
    return EncodedBytes.checked(object.bytes, { definition, scope });
  } catch (error) {
    throw upstreamFault(origin, `answered with something other than ${definition.kind}: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
