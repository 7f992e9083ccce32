// Why: the author of a PathMapping must not receive requests of another mapping. Tested with all short paths.
import { expect } from "chai";
import { byDetail, isBelow, overlaps, type RoutePath } from "../../packages/front-proxy/src/mapping/route-path.ts";

/** Returns all lists of up to `most` of these items. */
function lists<T>(of: readonly T[], most: number): T[][] {
  if (most === 0) return [[]];
  return [[], ...of.flatMap((first) => lists(of, most - 1).map((rest) => [first, ...rest]))];
}

describe("overlaps", () => {
  const routes: readonly RoutePath[] = lists(["a", "b", undefined], 3);
  const paths = lists(["a", "b", "c"], 4).map((segments) => `/${segments.join("/")}`);

  it("returns false only if the other path takes none of the requests", () => {
    let kept = 0;
    for (const first of routes.filter(({ length }) => length > 0)) {
      for (const other of routes.filter((route) => !overlaps(first, route))) {
        const [winner, loser] = [first, other].sort(byDetail) as [RoutePath, RoutePath];
        for (const path of paths.filter((one) => isBelow(first, one))) {
          const found = [winner, loser].find((route) => isBelow(route, path));
          expect(found, `${path} of ${JSON.stringify(first)} beside ${JSON.stringify(other)}`).to.equal(first);
          kept += 1;
        }
      }
    }
    expect(kept).to.be.above(1000);
  });

  it("returns true only if some path is below both", () => {
    for (const first of routes) {
      for (const other of routes.filter((route) => overlaps(first, route))) {
        const both = paths.filter((path) => isBelow(first, path) && isBelow(other, path));
        expect(both, `${JSON.stringify(first)} and ${JSON.stringify(other)}`).to.not.deep.equal([]);
      }
    }
  });
});
