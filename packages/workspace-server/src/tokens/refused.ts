/** A token that is one of ours and yet not good. The text is Kubernetes'; a TokenReview tells it, a 401 does not. */
export class TokenRefused extends Error {
  override readonly name: string = "TokenRefused";
}
