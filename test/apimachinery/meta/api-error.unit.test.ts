// Two copies of the package in one process recognize each other's errors by their brand.
import { ApiError, isApiError, toApiError } from "@virtual-workspaces/apimachinery";
import { expect } from "chai";

describe("isApiError", () => {
  it("recognizes an error of another copy of the package", async () => {
    const copy = new URL("../../../packages/apimachinery/src/meta/api-error.ts?copy", import.meta.url).href;
    const other: { ApiError: typeof ApiError } = await import(copy);
    const error: unknown = other.ApiError.badRequest("m");
    expect(error).not.to.be.instanceOf(ApiError);
    expect(isApiError(error)).to.equal(true);
    expect(toApiError(error)).to.equal(error);
  });
});
