/**
 * The trait of an audience: its name in snake_case (docs/specification.md, rule 13.1).
 *
 * The rule, in order: the name in Unicode's NFKC (so that 𝓐 is an A); apostrophes between letters go; everything else that is neither
 * letter, digit nor combining mark separates words; within what is left a word also ends before a capital that
 * follows a small letter or a digit (`bigSpenders`, `top10Users`), and before the last of several capitals where
 * small letters follow (`HTTPServer`). Digits belong to the word they stand in. Words are lower-cased and joined
 * by underscores. Letters of scripts without capitals stay as they are.
 */

const apostrophe = /(?<=\p{L})['’ʼ](?=\p{L})/gu;
const separators = /[^\p{L}\p{N}\p{M}]+/u;
const wordEnds = /(?<=[\p{Ll}\p{N}]\p{M}*)(?=\p{Lu})|(?<=\p{Lu}\p{M}*)(?=\p{Lu}\p{M}*\p{Ll})/u;

/** The name of the trait; empty where the audience's name has neither a letter nor a digit. */
export function traitName(audienceName: string): string {
  return audienceName
    .normalize('NFKC')
    .replace(apostrophe, '')
    .split(separators)
    .flatMap((part) => part.split(wordEnds))
    .map((word) => word.toLowerCase())
    .filter((word) => /[\p{L}\p{N}]/u.test(word))
    .join('_')
    .normalize('NFKC');
}
