import { ApiError, isApiError, type Status, statusReasons, toApiError } from "@virtual-workspaces/apimachinery";
import { expect } from "chai";

const quotes = { group: "example.dev", resource: "quotes" };
const pods = { group: "", resource: "pods" };

/** Result of each factory: code, reason, message, details. */
const table: readonly [ApiError, number, string, string, Status["details"]?][] = [
  [ApiError.badRequest("m"), 400, "BadRequest", "m"],
  [ApiError.unauthorized(), 401, "Unauthorized", "Unauthorized"],
  [ApiError.unauthorized("no token"), 401, "Unauthorized", "no token"],
  [
    ApiError.forbidden({ resource: quotes, name: "x", message: "no" }),
    403,
    "Forbidden",
    'quotes.example.dev "x" is forbidden: no',
    { name: "x", group: "example.dev", kind: "quotes" },
  ],
  [ApiError.forbidden({ resource: pods, message: "no" }), 403, "Forbidden", "pods is forbidden: no", { kind: "pods" }],
  [ApiError.forbidden({ resource: { group: "", resource: "" }, message: "no" }), 403, "Forbidden", "forbidden: no", {}],
  [
    ApiError.notFound(quotes, 'a"b\u200b'),
    404,
    "NotFound",
    'quotes.example.dev "a\\"b\\u200b" not found',
    { name: 'a"b\u200b', group: "example.dev", kind: "quotes" },
  ],
  [ApiError.notFoundPath(), 404, "NotFound", "the server could not find the requested resource", {}],
  [
    ApiError.methodNotAllowed(quotes, "watch"),
    405,
    "MethodNotAllowed",
    'watch is not supported on resources of kind "quotes.example.dev"',
    { group: "example.dev", kind: "quotes" },
  ],
  [
    ApiError.notAcceptable(["a/b", "c/d"]),
    406,
    "NotAcceptable",
    "only the following media types are accepted: a/b, c/d",
  ],
  [ApiError.alreadyExists(pods, "x"), 409, "AlreadyExists", 'pods "x" already exists', { name: "x", kind: "pods" }],
  [
    ApiError.conflict(quotes, "x", "it changed"),
    409,
    "Conflict",
    'Operation cannot be fulfilled on quotes.example.dev "x": it changed',
    { name: "x", group: "example.dev", kind: "quotes" },
  ],
  [ApiError.expired("m"), 410, "Expired", "m"],
  [ApiError.gone("m"), 410, "Gone", "m"],
  [ApiError.requestEntityTooLarge("m"), 413, "RequestEntityTooLarge", "Request entity too large: m"],
  [
    ApiError.unsupportedMediaType(["a/b", "c/d"]),
    415,
    "UnsupportedMediaType",
    "the body of the request was in an unknown format - accepted media types include: a/b, c/d",
  ],
  [
    ApiError.invalid({ kind: { group: "example.dev", kind: "Quote" }, name: "x", causes: [] }),
    422,
    "Invalid",
    'Quote.example.dev "x" is invalid',
    { name: "x", group: "example.dev", kind: "Quote" },
  ],
  [ApiError.tooManyRequests("m", 2), 429, "TooManyRequests", "m", { retryAfterSeconds: 2 }],
  [ApiError.internalError("m"), 500, "InternalError", "Internal error occurred: m", { causes: [{ message: "m" }] }],
  [ApiError.serviceUnavailable("m"), 503, "ServiceUnavailable", "m"],
  [ApiError.serviceUnavailable("m", 5), 503, "ServiceUnavailable", "m", { retryAfterSeconds: 5 }],
  [ApiError.timeout("m", 3), 504, "Timeout", "Timeout: m", { retryAfterSeconds: 3 }],
  [
    ApiError.tooLargeResourceVersion("12", "5"),
    504,
    "Timeout",
    "Timeout: Too large resource version: 12, current: 5",
    { causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }], retryAfterSeconds: 1 },
  ],
];

describe("ApiError", () => {
  for (const [error, code, reason, message, details] of table) {
    it(`${code} ${reason}: ${message}`, () => {
      const rest = details === undefined ? { code } : { details, code };
      expect(JSON.stringify(error.status)).to.equal(
        JSON.stringify({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, ...rest }),
      );
      expect(error).to.include({ name: "ApiError", message, code, reason });
    });
  }

  it("lists its reasons", () => {
    const used = table.map(([error]) => error.reason);
    expect([...new Set(used)].sort()).to.deep.equal([...statusReasons]);
  });

  it("has no reason if a forwarded Status has none", () => {
    const { reason: _, ...status } = ApiError.badRequest("m").status;
    expect(new ApiError(status).reason).to.equal("");
  });
});

describe("isApiError", () => {
  for (const value of [undefined, null, "ApiError", 400, {}, new Error("m"), { status: {}, name: "ApiError" }]) {
    it(`returns false for ${JSON.stringify(value)}`, () => expect(isApiError(value)).to.equal(false));
  }
});

describe("toApiError", () => {
  it("returns an ApiError unchanged", () => {
    const error = ApiError.gone("m");
    expect(toApiError(error)).to.equal(error);
  });

  for (const thrown of [new Error("password is hunter2"), "hunter2", undefined, null, { message: "hunter2" }]) {
    it(`hides ${JSON.stringify(thrown) ?? "undefined"}, and keeps it as the cause`, () => {
      const error = toApiError(thrown);
      expect(error.cause).to.equal(thrown);
      expect(error.status).to.include({ code: 500, reason: "InternalError", message: "Internal error occurred" });
      expect(JSON.stringify(error.status) + error.message).not.to.contain("hunter2");
    });
  }
});
