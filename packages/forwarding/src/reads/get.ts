import { isApiError, type ObjectKey } from "@virtual-workspaces/apimachinery";
import { type Encoded, EncodedBytes, type GetOptions, type Scope } from "@virtual-workspaces/framework";
import type { WholeResponse } from "@virtual-workspaces/transport";
import { checkJson, passWarnings } from "./answer.ts";
import { answeredError, upstreamFault } from "./failure.ts";
import type { UpstreamResource } from "./upstream-resource.ts";

/** The largest object that is read, bytes. */
const LARGEST = 16 * 1024 * 1024;
const LINE_FEED = 10;

/** Asks for one object; its bytes are passed on unread. @throws ApiError what the other server says; 503 when that is nothing */
export function getObject(
  resource: UpstreamResource,
  at: { readonly scope: Scope; readonly key: ObjectKey },
  options: GetOptions,
): Promise<Encoded | undefined> {
  const { resourceVersion, signal, warn } = options;
  const { scope, key } = at;
  const place = scope.namespace === key.namespace ? scope : { ...scope, namespace: key.namespace };
  const query = resourceVersion === undefined ? undefined : { resourceVersion };
  return resource
    .send({ scope: place, name: key.name, signal, limit: LARGEST, ...(query && { query }) })
    .then((answer) => {
      passWarnings(answer.headers, warn);
      return found(resource, at, answer);
    });
}

function found(
  resource: UpstreamResource,
  { scope, key }: { readonly scope: Scope; readonly key: ObjectKey },
  answer: WholeResponse,
): Encoded | undefined {
  const { origin, definition } = resource;
  if (answer.status !== 200) {
    const error = answeredError(answer, origin);
    if (isApiError(error) && error.reason === "NotFound" && error.status.details?.name === key.name) return undefined;
    throw error;
  }
  checkJson(answer.headers, origin);
  const { body } = answer;
  const object = new EncodedBytes(body.at(-1) === LINE_FEED ? body.subarray(0, -1) : body, { definition, scope });
  if (resource.saysKind(object.bytes)) return object;
  try {
    return EncodedBytes.checked(object.bytes, { definition, scope });
  } catch (error) {
    throw upstreamFault(origin, `answered no ${definition.kind}: ${(error as Error).message}`, { cause: error });
  }
}
