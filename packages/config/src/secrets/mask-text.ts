/** Stands for a secret in answers of the API, and keeps it in requests. */
export const secretMask = '********';
