// Differences between kcp's answers and ours that stay, with reasons in docs/reference/kcp/answers.md. An entry that no
// longer applies to any answer fails a test.
import { isEmpty, isNothing, isStatus, type Known, kindOf, messageOf, refuses } from "./found.ts";
import { OF_WAITING } from "./lifecycle-differences.ts";
import { OF_VIEWS } from "./view-differences.ts";

const NOT_SERVED = /cache\.kcp\.io/;

export const KNOWN: readonly Known[] = [
  ...OF_WAITING,
  ...OF_VIEWS,
  {
    name: "Errors in plain text",
    is: ({ theirs, ours }) => typeof theirs.body === "string" && theirs.status === ours.status && isStatus(ours),
  },
  {
    name: "Groups that are not served",
    is: ({ sent, theirs, ours }) =>
      /\/apis\/[^/]+\/[^/]+$/.test(sent) &&
      (isNothing(theirs) || (sent.endsWith("/nothing.dev/v1") && theirs.status === 200)) &&
      refuses(ours, 404),
  },
  {
    name: "A group of kcp that is not served yet",
    is: ({ sent, at, expected, ours }) =>
      (/\/body\/(?:groups|order|names of groups)/.test(at) && NOT_SERVED.test(at + JSON.stringify(expected))) ||
      (NOT_SERVED.test(sent) && ours.status === 404),
  },
  {
    name: "Addresses in discovery",
    is: ({ sent, at, expected }) =>
      at.endsWith("/serverAddressByClientCIDRs") && (sent.includes("/services/") || expected === undefined),
  },
  {
    name: "Denied discovery",
    is: ({ sent, at, theirs, ours }) =>
      /\/apis?(?: |$)/.test(sent) && at.endsWith("/headers") && refuses(theirs, 403) && refuses(ours, 403),
  },
  {
    name: "Aggregated discovery of groups",
    is: ({ theirs, ours }) => kindOf(theirs) === "APIGroupList" && kindOf(ours) === "APIGroupDiscoveryList",
  },
  {
    name: "Documents of OpenAPI v3",
    is: ({ sent, at }) => sent.endsWith("/openapi/v3") && at.endsWith("/names of paths"),
  },
  {
    name: "The header of a 401",
    is: ({ at, actual, ours }) =>
      at.endsWith("/headers") && ours.status === 401 && JSON.stringify(actual) === '{"www-authenticate":"Bearer"}',
  },
  {
    name: "Unknown paths without valid credentials",
    is: ({ sent, theirs, ours }) => sent.endsWith(" by stranger") && theirs.status === 404 && ours.status === 401,
  },
  {
    name: "Identities of built-in kinds",
    is: ({ sent, theirs, ours }) => sent.endsWith("/configmaps:abc") && theirs.status === 200 && ours.status === 404,
  },
  {
    name: "Unsupported methods of built-in kinds",
    is: ({ sent, theirs }) => /^(?:PUT|POST|OPTIONS|DELETE) /.test(sent) && theirs.status === 405,
  },
  {
    name: "Supported media types",
    is: ({ at, actual, theirs, ours }) =>
      (theirs.status === 406 && ours.status === 406) ||
      (refuses(ours, 415) &&
        at.endsWith("/message") &&
        String(actual).endsWith(", application/vnd.kubernetes.protobuf")),
  },
  {
    name: "Unreadable bodies of built-in kinds",
    is: ({ at, theirs, ours }) =>
      /cannot be handled as a /.test(messageOf(theirs)) && refuses(ours, 400) && at.endsWith("/message"),
  },
  {
    name: "Types that are not objects",
    is: ({ theirs, ours }) => messageOf(theirs).includes("cannot restore struct from") && refuses(ours, 422),
  },
  {
    name: "Specs in messages",
    is: ({ at, expected, actual }) =>
      at.endsWith("/message") && String(expected).replace(/Invalid value: [{[].*[}\]]: /, "Invalid value: ") === actual,
  },
  {
    name: "Empty values",
    is: ({ at, expected, actual }) =>
      !at.endsWith("/headers") && at.includes("/body/") && isEmpty(expected) && isEmpty(actual),
  },
  {
    name: "URLs in APIExports",
    is: ({ sent, at, expected, actual }) =>
      sent.includes("/apiexports/") &&
      ((/[./]virtualWorkspaces$/.test(at) && expected === undefined) ||
        (/conditions$/.test(at) && /VirtualWorkspaceURLsReady/.test(JSON.stringify(actual)))),
  },
  {
    name: "The path annotation of endpoint slices",
    is: ({ sent, at, expected }) =>
      sent.includes("/apiexportendpointslices/") && at.endsWith("/kcp.io/path") && expected === undefined,
  },
  {
    name: "The annotation of replicated objects",
    is: ({ at }) => at.endsWith("/internal.kcp.io/replicate"),
  },
  {
    name: "Missing exports in malformed bindings",
    is: ({ theirs, ours }) =>
      refuses(theirs, 403) && refuses(ours, 422) && messageOf(theirs).includes("no permission to bind to export"),
  },
  {
    name: "The owner annotation",
    is: ({ sent, at }) => sent.startsWith("PATCH ") && at.endsWith("/experimental.tenancy.kcp.io/owner"),
  },
  {
    name: "The condition of bindings in `root`",
    is: ({ sent, at, expected }) =>
      sent.startsWith("GET /clusters/root/") &&
      at.endsWith("/conditions") &&
      /"APIBindingsReconciled"/.test(JSON.stringify(expected)),
  },
  {
    name: "Unused roles",
    is: ({ name, at }) => name === "the roles that are there from the start" && /\/items\./.test(at),
  },
  {
    name: "Roles outside of the workspace",
    is: ({ name, theirs }) => name === "nobody gives more than he has" && /not found\]?$/.test(messageOf(theirs)),
  },
  {
    name: "Reasons of reviews",
    is: ({ sent, at, expected, actual }) =>
      sent.includes("accessreviews") && at.endsWith("/status/reason") && !expected && actual === "access granted",
  },
  {
    name: "Invalid reviews",
    is: ({ sent, theirs, ours }) => sent.includes("accessreviews") && refuses(theirs, 422) && refuses(ours, 422),
  },
  {
    name: "Impersonated groups without a user",
    is: ({ name, theirs, ours }) => name === "impersonation" && refuses(theirs, 403) && refuses(ours, 400),
  },
  {
    name: "Unsupported fields in selectors",
    is: ({ at, expected, actual }) =>
      at.endsWith("/message") && /^field label not supported: /.test(String(expected)) && isLonger(actual, expected),
  },
  {
    name: "Metadata by name",
    is: ({ sent, at, expected }) =>
      isOfAll(sent) &&
      sent.includes("fieldSelector=metadata.name=") &&
      at.includes("/items.") &&
      expected === undefined,
  },
  {
    name: "Metadata by identity",
    is: ({ name, sent, at, actual }) =>
      name === "of an identity" && isOfAll(sent) && at.includes("/items.") && isEmpty(actual),
  },
  {
    name: "Whole objects beside metadata",
    is: ({ sent, theirs, ours }) => isOfAll(sent) && kindOf(theirs) === "WidgetList" && refuses(ours, 406),
  },
  {
    name: "The stored version of built-in kinds",
    is: ({ sent, at, expected, actual }) =>
      isOfAll(sent) && at.endsWith("/kcp.io/original-api-version") && expected === "" && actual === "v1",
  },
];

function isOfAll(sent: string): boolean {
  return sent.startsWith("GET /clusters/*/");
}

function isLonger(text: unknown, than: unknown): boolean {
  return String(text).startsWith(`${than}; `);
}
