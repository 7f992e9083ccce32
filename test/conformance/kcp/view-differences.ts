// Differences between kcp's view of APIExports and ours that stay, with reasons in docs/reference/kcp/answers.md.
import { isJsonObject } from "@virtual-workspaces/apimachinery";
import { type Found, isEmpty, isStatus, type Known, kindOf, messageOf, refuses } from "./found.ts";

const APPLIES = /^PATCH .*[?&]fieldManager=/;
const ALL = "/widgets/clusters/*";
const STRANGE_NAMES = /\/clusters\/(?:Root|a_b|-a|\*:x|\*\*|\$\(ws\)%2F)\//;

const NO_SUBRESOURCE = /\/(?:scale|nothing)$|\/apiresourceschemas\/[^/]+\/status$/;

const OF_EXPORTS: readonly Known[] = [
  {
    name: "Paths in messages",
    is: ({ at, expected, actual }) =>
      at.endsWith("/message") &&
      pathOf(actual) !== undefined &&
      pathOf(actual)?.endsWith(pathOf(expected) ?? "-") === true,
  },
  {
    name: "Paths without a view",
    is: ({ sent, theirs, ours }) =>
      (/\$\(kid\.spec\.cluster\)\/services\//.test(sent) && refuses(theirs, 403) && refuses(ours, 404)) ||
      (messageOf(theirs).includes("Path not resolved") && (refuses(ours, 403) || refuses(ours, 400))) ||
      (textOf(theirs).includes("cluster path is empty") && (refuses(ours, 403) || refuses(ours, 404))) ||
      (messageOf(theirs).includes('cannot get path "/clusters/"') && refuses(ours, 403)),
  },
  {
    name: "The path of all views",
    is: ({ sent, theirs, ours }) =>
      (/ \/services(?: |$)/.test(sent) && theirs.status === 307 && (refuses(ours, 404) || refuses(ours, 403))) ||
      (/\/clusters\/ by root$/.test(sent) && theirs.status === 200 && refuses(ours, 404)),
  },
  {
    name: "Paths with empty segments",
    is: ({ sent, theirs, ours }) => /\/\//.test(sent) && theirs.status === 307 && isStatus(ours),
  },
  {
    name: "Invalid names of logical clusters",
    is: ({ sent, ours }) => STRANGE_NAMES.test(sent) && refuses(ours, 400),
  },
  {
    name: "Lists of paths",
    is: ({ sent, theirs, ours }) =>
      (isJsonObject(theirs.body) && Array.isArray(theirs.body["paths"]) && theirs.status === 404) ||
      (sent.endsWith("/services/apiresourceschema/$(ws)") && theirs.status === 404 && ours.status === 200),
  },
  {
    name: "Exports that cannot be served",
    is: ({ theirs, ours }) => textOf(theirs).includes("API export not found") && isStatus(ours),
  },
  {
    name: "Impersonation in a view",
    is: ({ theirs, ours }) => refuses(theirs, 403) && messageOf(ours).includes("impersonation is not allowed"),
  },
  {
    name: "Hops of a view",
    is: ({ name, theirs, ours }) => name === "hops" && theirs.status === 200 && refuses(ours, 500),
  },
  {
    name: "The version of an unbound list",
    is: ({ at, expected, actual }) =>
      /\/metadata(?:\/resourceVersion)?$/.test(at) &&
      isEmpty(expected) &&
      String(JSON.stringify(actual)).includes("<version>"),
  },
  {
    name: "Field managers of an apply",
    is: ({ sent, at, theirs, ours }) =>
      APPLIES.test(sent) &&
      ((at.endsWith("/status") && theirs.status === 200 && ours.status === 201) ||
        messageOf(theirs).includes('conflict with "one" using')),
  },
  {
    name: "An apply to a missing status",
    is: ({ sent, theirs, ours }) =>
      sent.includes("/status?fieldManager=") && refuses(theirs, 405) && refuses(ours, 404),
  },
  {
    name: "Causes of failed patches",
    is: ({ at, sent, expected }) =>
      sent.startsWith("PATCH ") && at.endsWith("/details/causes") && expected === undefined,
  },
  {
    name: "Missing subresources",
    is: ({ sent, theirs, ours }) => NO_SUBRESOURCE.test(sent) && refuses(theirs, 404) && refuses(ours, 404),
  },
  {
    name: "Annotations of the cache",
    is: ({ at, actual }) => /\/annotations\/(?:cache\.kcp\.io\/|kcp\.io\/shard$)/.test(at) && actual === undefined,
  },
  {
    name: "Warnings beside errors",
    is: ({ at, theirs, ours }) => at.endsWith("/headers") && refuses(theirs, 400) && refuses(ours, 400),
  },
  {
    name: "Bodies without a kind",
    is: ({ at, expected, actual }) => at.endsWith("/message") && [expected, actual].every(lacksKind),
  },
  {
    name: "Causes of a 404",
    is: ({ at, expected, sent, ours }) =>
      sent.includes("/services/") && at.endsWith("/details/causes") && isPlain404(expected) && refuses(ours, 404),
  },
  {
    name: "Invalid continue tokens",
    is: ({ at, expected, actual }) => at.endsWith("/message") && String(expected).startsWith(`${actual}: `),
  },
  {
    name: "Invalid resource versions",
    is: ({ sent, theirs, ours }) => sent.includes("resourceVersion=x") && theirs.status === 500 && refuses(ours, 400),
  },
  {
    name: "Writes to all workspaces",
    is: ({ sent, theirs, ours }) =>
      sent.includes(ALL) && [400, 404].includes(Number(theirs.status)) && refuses(ours, 405),
  },
  {
    name: "Namespaces of all workspaces",
    is: ({ theirs, ours }) => messageOf(theirs).startsWith("cross-cluster LIST and WATCH") && refuses(ours, 400),
  },
  {
    name: "Objects by name and namespace",
    is: ({ sent, at, expected }) =>
      sent.includes("fieldSelector=metadata.namespace=") && at.includes("/items.") && isEmpty(expected),
  },
  {
    name: "Deletes outside of a claim",
    is: ({ sent, theirs, ours }) => sent.startsWith("DELETE ") && selects(messageOf(theirs)) && refuses(ours, 404),
  },
  {
    name: "Short names of claimed kinds",
    is: ({ at, expected, actual }) =>
      /\/(?:shortNames|categories)$/.test(at) && expected === undefined && Array.isArray(actual),
  },
  {
    name: "The status of bindings",
    is: (found) =>
      found.at.endsWith("/resources/apibindings/status") ||
      (found.sent.endsWith("/apibindings/widgets/status") && refuses(found.ours, 404)),
  },
  {
    name: "Verbs of reviews",
    is: ({ sent, at, ours }) =>
      at.endsWith("/subjectaccessreviews/verbs") || (sent.endsWith("/subjectaccessreviews") && refuses(ours, 405)),
  },
  {
    name: "Versions of the core group",
    is: ({ sent, at, actual }) => sent.endsWith("/api") && at.endsWith("/versions") && isEmpty(actual),
  },
  {
    name: "Aggregated discovery of a view",
    is: ({ sent, ours }) => sent.includes("/services/") && kindOf(ours) === "APIGroupDiscoveryList",
  },
  {
    name: "Discovery by other methods",
    is: ({ sent, theirs, ours }) =>
      /^(?:POST|DELETE) /.test(sent) && /List$/.test(String(kindOf(theirs))) && refuses(ours, 404),
  },
  {
    name: "The order of groups",
    is: ({ sent, at }) => sent.includes("/services/") && at.includes("/order/"),
  },
  {
    name: "OpenAPI of a view",
    is: ({ sent, theirs, ours }) =>
      /\/openapi\/v3\/apis?\//.test(sent) && theirs.status === 200 && (ours.status === 200 || refuses(ours, 404)),
  },
  {
    name: "OpenAPI v2 of a view",
    is: ({ sent, theirs, ours }) => sent.endsWith("/openapi/v2") && theirs.status === 404 && ours.status === 200,
  },
];

/** Limits these differences to the areas of views. */
export const OF_VIEWS: readonly Known[] = OF_EXPORTS.map(({ name, is }) => ({
  name,
  is: (found: Found) => /\/services(?:\/| |$)/.test(found.sent) && is(found),
}));

/** Returns the path that a message forbids. */
function pathOf(message: unknown): string | undefined {
  return / cannot \w+ path "(.*)": /.exec(String(message))?.[1];
}

function textOf({ body }: Found["theirs"]): string {
  return typeof body === "string" ? body : "";
}

function lacksKind(message: unknown): boolean {
  return String(message).includes("Object 'Kind' is missing");
}

function isPlain404(causes: unknown): boolean {
  return JSON.stringify(causes)?.includes('"404 page not found"') === true;
}

function selects(message: string): boolean {
  return message.endsWith("object does not match required labels");
}
