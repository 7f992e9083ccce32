/** An error of evaluation, as CEL has them: `&&` and `||` may absorb it. */
export class CelError extends Error {
  override readonly name = "CelError";
}
