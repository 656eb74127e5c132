# Made pROC.json: Rscript pROC.R > pROC.json, with R 4.2.2 and pROC 1.18.0 of Debian 12.
suppressMessages(library(pROC))
set.seed(1)
case <- function(name, y, a, b) {
  ra <- roc(y, a, direction = "<", levels = c(0, 1), quiet = TRUE)
  rb <- roc(y, b, direction = "<", levels = c(0, 1), quiet = TRUE)
  ci <- ci.auc(ra, method = "delong")
  paired <- roc.test(ra, rb, method = "delong", paired = TRUE)
  cat(sprintf('{"name": "%s", "y": [%s], "a": [%s], "b": [%s], "auc": %.15g, "low": %.15g, "high": %.15g, "variance": %.15g, "paired_z": %.15g, "paired_p": %.15g, "auc_b": %.15g, "partial": %.15g, "mcclish": %.15g}',
    name, paste(y, collapse = ", "), paste(a, collapse = ", "), paste(b, collapse = ", "),
    as.numeric(auc(ra)), ci[1], ci[3], var(ra, method = "delong"),
    unname(paired$statistic), paired$p.value, as.numeric(auc(rb)),
    as.numeric(auc(ra, partial.auc = c(1, 0.7))),
    as.numeric(auc(ra, partial.auc = c(1, 0.7), partial.auc.correct = TRUE)) ))
}
cat(sprintf('{"R": "%s", "pROC": "%s", "cases": [\n', paste(R.version$major, R.version$minor, sep = "."), packageVersion("pROC")))
y <- rep(c(0, 1), c(40, 15)); a <- round(rnorm(55) + y, 3); b <- round(a + rnorm(55), 3)
case("continuous", y, a, b); cat(",\n")
a2 <- round(2 * a) / 2; b2 <- round(b)
case("tied", y, a2, b2); cat(",\n")
y3 <- rep(c(0, 1), c(12, 4)); a3 <- round(rnorm(16) + 2 * y3, 2); b3 <- round(rnorm(16) + y3, 2)
case("small", y3, a3, b3)
cat("\n]}\n")
