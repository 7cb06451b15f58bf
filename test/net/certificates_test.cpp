#include "net/certificates.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "net/harness.h"

namespace berth::net {
namespace {

TEST(Certificates, CarryUserAndGroups) {
  const Authority authority = Authority::Make("test-authority");
  const CertificateSubject subject{.common_name = "system:kube-scheduler",
                                   .organizations = {"system:masters", "a, b=c"}};
  const KeyPair issued = authority.Issue({.subject = subject, .names = {}, .use = CertificateUse::kClient});
  EXPECT_EQ(*SubjectOf(issued.certificate_pem), subject);
}

TEST(Certificates, TwoOfOneAuthorityDiffer) {
  const Authority authority = Authority::Make("test-authority");
  const CertificateWish wish{.subject = {.common_name = "x", .organizations = {}}, .names = {"localhost"}};
  EXPECT_NE(authority.Issue(wish).certificate_pem, authority.Issue(wish).certificate_pem);
}

TEST(Certificates, BadAuthorityIsAnErrorThatSaysWhichPart) {
  const Authority authority = Authority::Make("test-authority");
  const CertificateWish wish{.subject = {.common_name = "x", .organizations = {}}, .names = {}};
  const base::WallPoint now = base::RealClock().WallNow();
  const auto no_key = IssueCertificate({authority.keys.certificate_pem, "no key"}, wish, now);
  ASSERT_FALSE(no_key);
  EXPECT_THAT(no_key.error().message, testing::HasSubstr("authority's key"));
  EXPECT_FALSE(IssueCertificate({"", authority.keys.key_pem}, wish, now));
  EXPECT_FALSE(SubjectOf("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"));
}

TEST(TlsContexts, NameTheFileThatCannotBeUsed) {
  TlsClientConfig config;
  config.authority.file = "/nonexistent/ca.crt";
  const auto context = TlsContext::ForClient(config);
  ASSERT_FALSE(context);
  EXPECT_THAT(context.error().message,
              testing::HasSubstr("open /nonexistent/ca.crt: no such file or directory"));
}

TEST(TlsContexts, RefuseAKeyOfAnotherCertificate) {
  const Authority authority = Authority::Make("test-authority");
  const CertificateWish wish{.subject = {.common_name = "x", .organizations = {}}, .names = {"localhost"}};
  const KeyPair first = authority.Issue(wish);
  const KeyPair second = authority.Issue(wish);
  const auto context =
      TlsContext::ForServer({.certificate = Pem(first.certificate_pem), .key = Pem(second.key_pem)});
  ASSERT_FALSE(context);
  EXPECT_THAT(context.error().message, testing::HasSubstr("key"));
}

TEST(Certificates, NobodyMayHaveTheNameOfTheAuthority) {
  const base::WallPoint now = base::RealClock().WallNow();
  const auto authority = MakeAuthority("berth", now);
  ASSERT_TRUE(authority.has_value());
  EXPECT_FALSE(IssueCertificate(*authority, {.subject = {.common_name = "berth"}}, now).has_value());
  EXPECT_TRUE(IssueCertificate(*authority, {.subject = {.common_name = "server"}}, now).has_value());
}

}  // namespace
}  // namespace berth::net
