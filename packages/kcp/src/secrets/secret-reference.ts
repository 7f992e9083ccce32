/** The Secret that a mount's credential is in. */
export const SECRET_REFERENCE = {
  type: "object",
  description:
    "The Secret with the credential for the target: token, or tls.crt and tls.key, or kubeconfig; ca.crt says whom to trust. What it has goes before what a Secret in ref has.",
  required: ["namespace", "name"],
  properties: {
    namespace: { type: "string", minLength: 1, description: "The Secret's namespace." },
    name: { type: "string", minLength: 1, description: "The Secret's name." },
  },
} as const;
