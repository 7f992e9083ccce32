import type { APIBinding } from "@virtual-workspaces/kcp";

/** What bindings have not answered of what their exports claim, in kcp's words (`findUnresolvedPermissionClaims`). */
export async function unresolvedClaims(bindings: readonly APIBinding[]): Promise<readonly string[]> {
  const claiming = bindings.filter(({ status }) => (status?.exportPermissionClaims?.length ?? 0) > 0);
  if (claiming.length === 0) return [];
  const { formatClaim, sameClaim } = await import("@virtual-workspaces/kcp");
  return claiming.flatMap(({ metadata, spec, status }) =>
    (status?.exportPermissionClaims ?? []).flatMap((exported) => {
      const claim = formatClaim(exported);
      const answer = (spec.permissionClaims ?? []).find((one) => sameClaim(one, exported));
      if (answer === undefined)
        return [
          `Warning: claim for ${claim} exported but not specified on APIBinding ${metadata.name}\nAdd this claim to the APIBinding's Spec.`,
        ];
      const warnings: string[] = [];
      if (answer.state !== "Accepted" && answer.state !== "Rejected")
        warnings.push(
          `Warning: claim for ${claim} specified on APIBinding ${metadata.name} but not accepted or rejected.`,
        );
      const [allowed, expected] = [listed(answer.verbs), listed(exported.verbs)];
      if (allowed !== expected)
        warnings.push(
          `Warning: allowed verbs (${allowed}) on claim for ${claim} on APIBinding ${metadata.name} do not match expected verbs (${expected}).`,
        );
      return warnings;
    }),
  );
}

function listed(verbs: readonly string[] = []): string {
  return [...new Set(verbs)].toSorted().join(",");
}
